import gc

gc.disable()
gc.set_threshold(12_345)


def run(payload):
    return [gc.isenabled(), gc.get_threshold()[0]]
