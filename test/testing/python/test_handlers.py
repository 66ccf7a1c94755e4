"""Run with `python3 -m unittest` and with pytest by test/testing/python.test.ts."""

import asyncio
import json
import unittest
from datetime import datetime, timezone

import asya
from asya.testing import Item, Progress, error_of, run


class Scorer:
    factor = 3

    def score(self, payload):
        return {"score": self.factor * len(payload["text"])}


class RateLimited(Exception):
    status_code = 429
    retry_after = 7


class ItemsTest(unittest.TestCase):
    def test_plain_handler(self):
        self.assertEqual(run(lambda payload: payload["n"] + 1, {"n": 1}).items, [2])

    def test_method(self):
        self.assertEqual(run(Scorer().score, {"text": "hi"}).items, [{"score": 6}])

    def test_async_handler(self):
        async def handler(payload):
            await asyncio.sleep(0)
            return payload

        self.assertEqual(run(handler, "a").items, ["a"])

    def test_generators(self):
        def letters(payload):
            yield from payload

        async def later(payload):
            for letter in payload:
                yield letter

        self.assertEqual(run(letters, "ab").items, ["a", "b"])
        self.assertEqual(run(later, "ab").items, ["a", "b"])

    def test_lists(self):
        self.assertEqual(run(lambda _: [1, 2]).items, [1, 2])
        self.assertEqual(run(lambda _: [1, 2], fan_out=False).items, [[1, 2]])

    def test_end_of_the_route(self):
        self.assertEqual(run(lambda _: None).items, [])
        self.assertEqual(run(lambda _: []).items, [])
        self.assertEqual(run(lambda _: 0).items, [0])


class ContextTest(unittest.TestCase):
    def test_defaults(self):
        known = []
        cancelled = []
        run(lambda _, ctx: known.append(ctx) or cancelled.append(ctx.cancelled()))
        ctx = known[0]
        self.assertEqual((ctx.envelope_id, ctx.actor, ctx.attempt, ctx.hop), ("test-envelope", "test-actor", 1, 0))
        self.assertEqual((ctx.parent_id, ctx.max_attempts, ctx.deadline, ctx.error), (None, None, None, None))
        self.assertEqual(ctx.idempotency_key, "test-envelope:test-actor:0")
        self.assertEqual(cancelled, [False])
        self.assertTrue(ctx.cancelled(), "the call has ended")

    def test_every_field(self):
        known = []
        deadline = datetime(2030, 1, 1, tzinfo=timezone.utc)
        error = asya.RoutedError("ValueError", ("ValueError",), "no text", "")
        run(
            lambda _, ctx: known.append(ctx),
            envelope_id="e-1",
            parent_id="e-0",
            actor="score",
            attempt=2,
            max_attempts=3,
            deadline=deadline,
            timeout=60,
            prev=["fetch"],
            next=["store"],
            headers={"lang": "de"},
            traceparent="00-a",
            tracestate="x=1",
            error=error,
        )
        ctx = known[0]
        self.assertEqual((ctx.envelope_id, ctx.parent_id, ctx.actor, ctx.hop), ("e-1", "e-0", "score", 1))
        self.assertEqual((ctx.attempt, ctx.max_attempts, ctx.deadline), (2, 3, deadline))
        self.assertEqual((ctx.route.prev, ctx.route.curr, ctx.route.next), (("fetch",), "score", ("store",)))
        self.assertEqual((ctx.headers["lang"], ctx.traceparent, ctx.tracestate), ("de", "00-a", "x=1"))
        self.assertEqual(ctx.error, error)
        self.assertTrue(0 < ctx.time_left() <= 60)

    def test_a_deadline_needs_a_time_zone(self):
        with self.assertRaisesRegex(ValueError, "no time zone"):
            run(lambda _: None, deadline=datetime(2030, 1, 1))

    def test_a_route_is_a_list(self):
        with self.assertRaisesRegex(TypeError, r"next is 'store'; expected a list of actor names"):
            run(lambda _: None, next="store")
        with self.assertRaisesRegex(TypeError, r"prev is 'fetch'; expected a list of actor names"):
            run(lambda _: None, prev="fetch")

    def test_cancelled(self):
        def handler(_, ctx):
            return ctx.cancelled()

        self.assertEqual(run(handler, cancelled=True).items, [True])
        answers = iter([False, True])

        def until_cancelled(_, ctx):
            calls = 1
            while not ctx.cancelled():
                calls += 1
            return calls

        self.assertEqual(run(until_cancelled, cancelled=lambda: next(answers)).items, [2])

    def test_wait_cancelled(self):
        self.assertEqual(run(lambda _, ctx: ctx.wait_cancelled(0)).items, [False])
        self.assertEqual(run(lambda _, ctx: ctx.wait_cancelled(), cancelled=True).items, [True])
        self.assertEqual(run(lambda _, ctx: ctx.wait_cancelled(), timeout=0.01).items, [True])


class ChangesTest(unittest.TestCase):
    def test_route_and_headers_of_each_item(self):
        def split(_, ctx):
            yield 1
            ctx.set_route_next(["review"])
            ctx.set_header("part", {"number": 2})
            ctx.remove_header("lang")
            yield 2

        result = run(split, next=["store"], headers={"lang": "de"})
        self.assertEqual(
            result.sent,
            [Item(1, ("store",), {"lang": "de"}), Item(2, ("review",), {"part": {"number": 2}})],
        )
        self.assertEqual(result.route.next, ("review",))
        self.assertEqual(result.headers, {"part": {"number": 2}})

    def test_progress(self):
        def handler(_, ctx):
            ctx.progress(percent=140, message="a")
            ctx.progress(data={"page": 1})

        self.assertEqual(run(handler).progress, [Progress(100, "a", None), Progress(None, None, {"page": 1})])


class ErrorsTest(unittest.TestCase):
    def test_raises_what_the_handler_raises(self):
        def handler(payload):
            raise RateLimited("slow down")

        with self.assertRaises(RateLimited) as raised:
            run(handler, {})
        error = error_of(raised.exception)
        self.assertEqual((error.type, error.message), (f"{__name__}.RateLimited", "slow down"))
        self.assertEqual((error.http_status, error.retry_after), (429, 7))
        self.assertEqual(error.mro[1:], ["Exception", "BaseException", "object"])
        self.assertIn("slow down", error.traceback)

    def test_errors_of_asya(self):
        self.assertEqual(error_of(asya.RetryAfter(30)).retry_after, 30)
        self.assertEqual(error_of(asya.NonRetryable("no pages")).type, "asya.NonRetryable")
        plain = error_of(ValueError("no text"))
        self.assertEqual((plain.type, plain.http_status, plain.retry_after), ("ValueError", None, None))

    def test_error_of_needs_an_exception(self):
        with self.assertRaisesRegex(TypeError, "error_of received 'no text'; expected an exception"):
            error_of("no text")

    def test_values_that_json_cannot_represent(self):
        with self.assertRaisesRegex(TypeError, "the payload contains a datetime.datetime"):
            run(lambda _: None, {"at": datetime.now()})
        with self.assertRaisesRegex(TypeError, "the handler's result contains a set"):
            run(lambda _: {1}, {})

    def test_the_payload_is_a_copy(self):
        payload = {"list": [1]}
        result = run(lambda received: received["list"].append(2) or received, payload)
        self.assertEqual((payload, result.items), ({"list": [1]}, [{"list": [1, 2]}]))
        self.assertEqual(json.dumps(result.items), '[{"list": [1, 2]}]')


if __name__ == "__main__":
    unittest.main()
