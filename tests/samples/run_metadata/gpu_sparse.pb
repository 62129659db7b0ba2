
ı
ü
%/job:localhost/replica:0/task:0/cpu:0M
_SOURCE€€½æë (B_SOURCE = NoOp()Hÿÿ½æëh€€€Åİğ•šxˆ'€ˆ'ˆ˜øÿÄİğ•šƒ
sparse/SparseToDense””½æë ğ.(ğ.B3sparse/SparseToDense = SparseToDense(layer4/MatMul)H“”½æëh ¼Æİğ•šx€›î€€›îˆ¸´Æİğ•š
ô
%/job:localhost/replica:0/task:0/gpu:0c
layer0/MatMulŠ€½æë (Blayer0/MatMul = MatMul(x0, w0)H‰€½æëhÎ€Åİğ•šx°ê€°êˆ¨Æ€Åİğ•šc
layer1/MatMulª€½æë (Blayer1/MatMul = MatMul(x1, w1)H©€½æëhÈ‚Åİğ•šx°ê€°êˆ¨À‚Åİğ•šc
layer2/MatMulÊ€½æë (Blayer2/MatMul = MatMul(x2, w2)HÉ€½æëhÂ„Åİğ•šx°ê€°êˆ¨º„Åİğ•šc
layer3/MatMulê€½æë (Blayer3/MatMul = MatMul(x3, w3)Hé€½æëh¼†Åİğ•šx°ê€°êˆ¨´†Åİğ•šc
layer4/MatMulŠ½æë (Blayer4/MatMul = MatMul(x4, w4)H‰½æëh¶ˆÅİğ•šx°ê€°êˆ¨®ˆÅİğ•ša
layer4/MatMul:sendİ“½æë (Bedge_1_layer4 = _Send()HÜ“½æëhÈšÆİğ•šx œ€ œˆà†šÆİğ•šo

out/MatMulÊÃ½æë (B-out/MatMul = MatMul(sparse/SparseToDense, wo)HÉÃ½æëhúÉİğ•šx°ê€°êˆ¨òÉİğ•š
·
/gpu:0/stream:56b
layer0/MatMul:MatMul”€½æë ô(ôBlayer0/MatMul:MatMulH“€½æëh œÅİğ•šx Â€ Âˆ¸”Åİğ•šb
layer1/MatMul:MatMulˆ„½æë ô(ôBlayer1/MatMul:MatMulH‡„½æëhÀŞŸÅİğ•šx Â€ ÂˆØÖŸÅİğ•šb
layer2/MatMul:MatMulü‡½æë ô(ôBlayer2/MatMul:MatMulHû‡½æëhà ¾Åİğ•šx Â€ Âˆø˜¾Åİğ•šb
layer3/MatMul:MatMulğ‹½æë ô(ôBlayer3/MatMul:MatMulHï‹½æëh€ãÜÅİğ•šx Â€ Âˆ˜ÛÜÅİğ•šb
layer4/MatMul:MatMulä½æë ô(ôBlayer4/MatMul:MatMulHã½æëh ¥ûÅİğ•šx Â€ Âˆ¸ûÅİğ•šl
edge_5_layer4/MatMul:MEMCPYDtoHâ“½æë (((BMEMCPYDtoH 4000 bytesHá“½æëhĞµšÆİğ•šxÀ¸€À¸ˆè­šÆİğ•šs
&edge_6_sparse/SparseToDense:MEMCPYHtoD‰Ã½æë <(<BMEMCPYHtoD 4000 bytesHˆÃ½æëh¨ş‹Éİğ•šxàÔ€àÔˆÀö‹Éİğ•šL
out/MatMul:MatMulòÃ½æë  ( BxHñÃ½æëhĞ²’Éİğ•šx€ê0€€ê0ˆèª’Éİğ•š
Õ
/gpu:0/stream:allb
layer0/MatMul:MatMul”€½æë ô(ôBlayer0/MatMul:MatMulH“€½æëh œÅİğ•šx Â€ Âˆ¸”Åİğ•šb
layer1/MatMul:MatMulˆ„½æë ô(ôBlayer1/MatMul:MatMulH‡„½æëhÀŞŸÅİğ•šx Â€ ÂˆØÖŸÅİğ•šb
layer2/MatMul:MatMulü‡½æë ô(ôBlayer2/MatMul:MatMulHû‡½æëhà ¾Åİğ•šx Â€ Âˆø˜¾Åİğ•šb
layer3/MatMul:MatMulğ‹½æë ô(ôBlayer3/MatMul:MatMulHï‹½æëh€ãÜÅİğ•šx Â€ Âˆ˜ÛÜÅİğ•šb
layer4/MatMul:MatMulä½æë ô(ôBlayer4/MatMul:MatMulHã½æëh ¥ûÅİğ•šx Â€ Âˆ¸ûÅİğ•šL
out/MatMul:MatMulòÃ½æë  ( BxHñÃ½æëhĞ²’Éİğ•šx€ê0€€ê0ˆèª’Éİğ•š
ò
/gpu:0/memcpyl
edge_5_layer4/MatMul:MEMCPYDtoHâ“½æë (((BMEMCPYDtoH 4000 bytesHá“½æëhĞµšÆİğ•šxÀ¸€À¸ˆè­šÆİğ•šs
&edge_6_sparse/SparseToDense:MEMCPYHtoD‰Ã½æë <(<BMEMCPYHtoD 4000 bytesHˆÃ½æëh¨ş‹Éİğ•šxàÔ€àÔˆÀö‹Éİğ•š