"""The example bot in a headless Chromium over WebRTC: it is heard, and speaking silences it.

    .venv/bin/pip install 'pipecat-ai[webrtc,runner]'
    .venv/bin/python tests/e2e/pipecat_webrtc.py SPEECH.wav

SPEECH.wav is what a person says into the microphone, 24 kHz mono (`kokoro-agents say "Stop, please
stop now." -o SPEECH.wav`). Needs `chromium`. The bot's voice are the tones of the test engine. By
hand, as it takes half a minute and a browser.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import websockets

from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.server import running_server

ROOT = Path(__file__).parents[2]
SPEAKS_AT_S = 3.0  # the person, into the microphone
LISTEN_S = 12.0
LOUD = 0.005  # RMS; a silent track is exactly 0
STEP_S = 0.05

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--autoplay-policy=no-user-gesture-required",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
    "--remote-allow-origins=*",
]

PAGE = """
(async () => {
  const microphone = await navigator.mediaDevices.getUserMedia({audio: {
    echoCancellation: false, noiseSuppression: false, autoGainControl: false}});
  const peer = new RTCPeerConnection({iceServers: []});
  peer.addTransceiver(microphone.getAudioTracks()[0], {direction: 'sendrecv'});
  peer.createDataChannel('chat');
  const heard = new Promise(resolve => { peer.ontrack = event => resolve(event.streams[0]); });
  await peer.setLocalDescription(await peer.createOffer());
  while (peer.iceGatheringState !== 'complete') await new Promise(r => setTimeout(r, 20));
  const answer = await (await fetch('/api/offer', {method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({sdp: peer.localDescription.sdp, type: 'offer'})})).json();
  await peer.setRemoteDescription(answer);
  const stream = await heard;
  const element = new Audio();  // Chromium decodes only what is played
  element.srcObject = stream; element.muted = true; await element.play();
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize), levels = [];
  const begun = performance.now();
  while (performance.now() - begun < LISTEN_MS) {
    analyser.getFloatTimeDomainData(samples);
    const rms = Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
    levels.push([(performance.now() - begun) / 1000, rms]);
    await new Promise(r => setTimeout(r, STEP_MS));
  }
  return {state: peer.connectionState, levels};
})()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def microphone_file(speech: Path, path: Path) -> float:
    """Silence, the speech, silence; returns how long the speech is, in seconds."""
    with wave.open(str(speech)) as wav:
        parameters, data = wav.getparams(), wav.readframes(wav.getnframes())
    second = bytes(parameters.framerate * parameters.sampwidth * parameters.nchannels)
    with wave.open(str(path), "wb") as wav:
        wav.setparams(parameters)
        wav.writeframes(second * int(SPEAKS_AT_S) + data + second * 30)
    return float(parameters.nframes / parameters.framerate)


@contextmanager
def running(command: list[str], **environment: str) -> Iterator[None]:
    """A process for as long as the block."""
    process = subprocess.Popen(command, env=os.environ | environment, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:  # it waits for the call to end
            process.kill()
            process.wait()


async def until_up(url: str) -> None:
    async with httpx.AsyncClient() as http, asyncio.timeout(60):
        while True:
            try:
                await http.get(url)
                return
            except httpx.TransportError:
                await asyncio.sleep(0.2)


async def evaluate(debug_port: int, page: str, script: str) -> Any:
    """Run a script in a new tab at this address; what it resolves to."""
    base = f"http://127.0.0.1:{debug_port}"
    await until_up(f"{base}/json/version")
    async with httpx.AsyncClient() as http:
        tab = (await http.put(f"{base}/json/new?{page}")).json()
    async with websockets.connect(tab["webSocketDebuggerUrl"], max_size=None) as devtools:
        await asyncio.sleep(1.0)  # the page has nothing to wait for but itself
        expression = {"expression": script, "awaitPromise": True, "returnByValue": True}
        request = {"id": 1, "method": "Runtime.evaluate", "params": expression}
        await devtools.send(json.dumps(request))
        async for message in devtools:
            answer = json.loads(message)
            if answer.get("id") == 1:
                result = answer["result"]
                if "exceptionDetails" in result:
                    raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
                return result["result"]["value"]
    raise RuntimeError("the browser ended")


async def listen(speech: Path, folder: Path) -> tuple[dict[str, Any], float]:
    """What the browser hears of the bot, and how long the person spoke."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed")
    spoken_s = microphone_file(speech, folder / "microphone.wav")
    bot_port, debug_port = free_port(), free_port()
    async with running_server(ToneEngine, phonemize=spell) as voice:
        bot_command = [sys.executable, str(ROOT / "examples/pipecat_bot.py")]
        bot_command += ["--port", str(bot_port)]
        browser_command = [chromium, *FLAGS, f"--user-data-dir={folder / 'profile'}"]
        browser_command += [f"--remote-debugging-port={debug_port}"]
        browser_command += [f"--use-file-for-fake-audio-capture={folder / 'microphone.wav'}%noloop"]
        with running(bot_command, KOKORO_URL=voice.url), running(browser_command):
            page = f"http://localhost:{bot_port}/docs"
            await until_up(page)
            script = PAGE.replace("LISTEN_MS", str(LISTEN_S * 1000))
            script = script.replace("STEP_MS", str(STEP_S * 1000))
            async with asyncio.timeout(90):
                return await evaluate(debug_port, page, script), spoken_s


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: pipecat_webrtc.py SPEECH.wav")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        heard, spoken_s = asyncio.run(listen(Path(sys.argv[1]), Path(folder)))
    loud = [at for at, level in heard["levels"] if level > LOUD]
    gaps = [(a, b) for a, b in pairwise(loud) if b - a > 0.6]
    print(f"state {heard['state']}, the person spoke for {spoken_s:.1f} s")
    print(f"heard from {loud[0]:.2f} s" if loud else "nothing was heard")
    print("silences:", ", ".join(f"{a:.2f}-{b:.2f} s" for a, b in gaps) or "none")
    assert heard["state"] == "connected"
    assert loud, "the bot was not heard"
    assert gaps, "the bot went on while the person spoke"


if __name__ == "__main__":
    main()
