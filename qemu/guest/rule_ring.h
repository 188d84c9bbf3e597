/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The send queue of a queue pair as memory: where it is mapped, and WQEs that
 * libibverbs would not write.
 */
#ifndef RULE_RING_H
#define RULE_RING_H

#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "rule_pair.h"

#define RING_INLINE	(1 << 3)	/* IBV_SEND_INLINE */

/*
 * The largest mapping of the device is the send queue: pair_limits asks for
 * many more WQEs there than anywhere else.
 */
static struct rxe_queue_buf *ring_find(void)
{
	FILE *maps = pair_check(fopen("/proc/self/maps", "r"), "maps");
	unsigned long best = 0, where = 0, start, end;
	char line[512];

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/dev/infiniband/uverbs") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2 &&
		    end - start > best) {
			best = end - start;
			where = start;
		}
	fclose(maps);
	if (!where)
		fail("no mapping of the device");
	return (struct rxe_queue_buf *)where;
}

static struct rxe_send_wqe *ring_next(struct rxe_queue_buf *ring)
{
	uint32_t index = ring->producer_index & ring->index_mask;

	return (void *)(ring->data + (index << ring->log2_elem_size));
}

/* A SEND of 8 bytes of inline data, as libibverbs would write it */
static struct rxe_send_wqe *ring_fill(struct rxe_queue_buf *ring,
				      uint64_t wr_id)
{
	struct rxe_send_wqe *wqe = ring_next(ring);

	memset(wqe, 0, 1 << ring->log2_elem_size);
	wqe->wr.wr_id = wr_id;
	wqe->wr.opcode = IBV_WR_SEND;
	wqe->wr.send_flags = RING_INLINE | IBV_SEND_SIGNALED;
	wqe->dma.length = 8;
	wqe->dma.resid = 8;
	memcpy(wqe->dma.inline_data, "verbatim", 8);
	return wqe;
}

/* As the provider does it, which has no doorbell without a WR of its own */
static void ring_doorbell(struct pair *pair)
{
	struct ib_uverbs_post_send_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send body;
	} cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_POST_SEND,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.body = {
			.response = (uintptr_t)&resp,
			.qp_handle = pair->qp->handle,
			.wqe_size = sizeof(struct ib_uverbs_send_wr),
		},
	};

	if (write(pair->context->cmd_fd, &cmd, sizeof(cmd)) != sizeof(cmd))
		fail("doorbell: %s", strerror(errno));
}

static void ring_post(struct pair *pair, struct rxe_queue_buf *ring)
{
	__atomic_store_n(&ring->producer_index,
			 (ring->producer_index + 1) & ring->index_mask,
			 __ATOMIC_RELEASE);
	ring_doorbell(pair);
}

#endif /* RULE_RING_H */
