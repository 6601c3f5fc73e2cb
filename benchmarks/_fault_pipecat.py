"""One cell of `fault_matrix.py` for Pipecat's `SageMakerBidiClient`, in an environment of its own.

    python _fault_pipecat.py URL MOMENT LIMIT_S

Speaks the sentences that come on standard input as one JSON line. Where the fault is to happen
between two texts it prints `now` and waits for a line; at the end it prints the outcome.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from typing import Any

from pipecat.services.aws.sagemaker.bidi_client import SageMakerBidiClient

CONTEXT = "c"


class Reader:
    """What came of the texts."""

    def __init__(self, client: SageMakerBidiClient) -> None:
        self._client = client
        self.done: list[int] = []
        self.words: list[str] = []

    async def until(self, chunks: int) -> str:
        """Until so many are done; an outcome if it ends before."""
        while len(self.done) < chunks:
            event = await self._client.receive_response()
            if event is None:
                return "silent end"
            part = event.value
            if part.data_type == "UTF8":
                message = json.loads(part.bytes_)
                if message["type"] == "chunk_done":
                    self.done.append(message["chunk_id"])
                elif message["type"] == "word_timestamps":
                    self.words += [word["text"] for word in message["words"]]
        return ""


async def speak(client: SageMakerBidiClient, texts: dict[int, str]) -> None:
    for chunk_id, text in texts.items():
        await client.send_json(
            {
                "type": "speak",
                "context_id": CONTEXT,
                "chunk_id": chunk_id,
                "text": text,
                "timestamps": "word",
            }
        )


async def wait_for_the_fault() -> None:
    print("now", flush=True)
    await asyncio.to_thread(sys.stdin.readline)


async def run(client: SageMakerBidiClient, moment: str, sentences: list[str]) -> dict[str, Any]:
    await client.start_session()
    reader = Reader(client)
    texts = dict(enumerate(sentences))
    if moment == "between sentences":
        await speak(client, {0: texts.pop(0)})
        await reader.until(1)
    if moment in ("between sentences", "idle"):
        await wait_for_the_fault()
    await speak(client, texts)
    ended = await reader.until(len(sentences))
    words = [word.strip(".") for text in sentences for word in text.split()]
    return {"outcome": ended or ("all words once" if reader.words == words else "words wrong")}


async def main() -> None:
    url, moment, limit_s = sys.argv[1], sys.argv[2], float(sys.argv[3])
    sentences = json.loads(sys.stdin.readline())
    # It sends both as headers even where they are empty, which the service's model does not allow.
    client = SageMakerBidiClient(
        "kokoro",
        "us-east-1",
        model_invocation_path="invocations-bidirectional-stream",
        model_query_string="voice=af_heart",
    )
    client.bidi_endpoint = url
    began_s = time.monotonic()
    try:
        async with asyncio.timeout(limit_s):
            found = await run(client, moment, sentences)
    except TimeoutError:
        found = {"outcome": "hang"}
    except Exception as error:
        found = {"outcome": "error", "error": type(error).__name__}
    found["seconds"] = round(time.monotonic() - began_s, 1)
    try:
        async with asyncio.timeout(3):
            await client.close_session()
    except Exception:
        found["close"] = "hang"
    print(json.dumps(found), flush=True)
    # What hangs in the SDK's threads is not waited for.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
