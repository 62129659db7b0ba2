
©
}
,/job:localhost/replica:0/task:0/device:CPU:0M
_SOURCE€€½æë (B_SOURCE = NoOp()Hÿÿ½æëh€€€Åİğ•šxˆ'€ˆ'ˆ˜øÿÄİğ•š
§
,/job:localhost/replica:0/task:0/device:GPU:0c
layer0/MatMulŠ€½æë (Blayer0/MatMul = MatMul(x0, w0)H‰€½æëhÎ€Åİğ•šx°ê€°êˆ¨Æ€Åİğ•šc
layer1/MatMulª€½æë (Blayer1/MatMul = MatMul(x1, w1)H©€½æëhÈ‚Åİğ•šx°ê€°êˆ¨À‚Åİğ•šc
layer2/MatMulÊ€½æë (Blayer2/MatMul = MatMul(x2, w2)HÉ€½æëhÂ„Åİğ•šx°ê€°êˆ¨º„Åİğ•šc
layer3/MatMulê€½æë (Blayer3/MatMul = MatMul(x3, w3)Hé€½æëh¼†Åİğ•šx°ê€°êˆ¨´†Åİğ•šc
layer4/MatMulŠ½æë (Blayer4/MatMul = MatMul(x4, w4)H‰½æëh¶ˆÅİğ•šx°ê€°êˆ¨®ˆÅİğ•š