def score(document):
    return {**document, "words": len(document["text"].split(" "))}
