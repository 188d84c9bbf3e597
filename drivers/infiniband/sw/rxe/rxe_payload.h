/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_PAYLOAD_H
#define RXE_PAYLOAD_H

#include <linux/types.h>

struct rxe_dma_info;
struct rxe_mr;
struct rxe_pd;
struct rxe_pkt_info;

/* A side's run */
int rxe_payload_to_mr(struct rxe_pkt_info *pkt, struct rxe_mr *mr, u64 iova);
int rxe_payload_to_sge(struct rxe_pkt_info *pkt, struct rxe_pd *pd,
		       struct rxe_dma_info *dma, struct rxe_mr **held);

#endif /* RXE_PAYLOAD_H */
