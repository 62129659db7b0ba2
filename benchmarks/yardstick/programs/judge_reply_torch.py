"""A service on loopback judges what an LSTM said; each step waits for its reply."""

import http.client
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from harness import chosen, steps
from torch import nn

TRUTH = {"cause": "wait", "needs": "torch", "fix": "it is asked every 20th step"}


class Judge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(0.005)
        reply = json.dumps({"reward": sum(said) % 7 / 7}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.recurrent = nn.LSTM(32, 64, batch_first=True)
        self.head = nn.Linear(64, 50)

    def forward(self, words):
        return self.head(self.recurrent(self.embed(words))[0])


def reward(service, said):
    service.request("POST", "/judge", json.dumps(said))
    return json.loads(service.getresponse().read())["reward"]  # culprit


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    service = http.client.HTTPConnection("127.0.0.1", server.server_port)
    model = Speaker()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    words = torch.randint(50, (16, 24))
    worth = 0.5
    for number in steps():
        chances = model(words).log_softmax(-1)
        if not chosen.fix or number % 20 == 0:
            worth = reward(service, chances[0].argmax(-1).tolist())
        optimizer.zero_grad()
        (-worth * chances.amax(-1).mean()).backward()
        optimizer.step()


main()
