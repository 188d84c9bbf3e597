// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a user writes into its send queue is read once and checked, and what it
 * writes there afterwards is without effect (rxe_sq.c).
 *
 * Context: process; a QP and its ring are made in memory, nothing is sent.
 */
#include <kunit/test.h>
#include <linux/vmalloc.h>

#include "../rxe.h"
#include "../rxe_sq.h"

#define SLOTS		8
#define MAX_SGE		4
#define MAX_INLINE	64

struct bench {
	struct rxe_dev rxe;
	struct rxe_qp qp;
};

static void free_sq(void *context)
{
	struct bench *bench = context;

	rxe_sq_free_copies(&bench->qp.sq);
	vfree(bench->qp.sq.queue->buf);
	kfree(bench->qp.sq.queue);
}

static struct rxe_qp *new_qp(struct kunit *test, enum ib_qp_type type)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	struct rxe_sq *sq = &bench->qp.sq;
	int slots = SLOTS - 1;

	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->qp.ibqp.qp_type = type;
	sq->max_sge = MAX_SGE;
	sq->max_inline = MAX_INLINE;
	sq->queue = rxe_queue_init(&bench->rxe, &slots,
				   sizeof(struct rxe_send_wqe) + MAX_INLINE,
				   QUEUE_TYPE_FROM_CLIENT);
	KUNIT_ASSERT_NOT_NULL(test, sq->queue);
	KUNIT_ASSERT_EQ(test, 0, rxe_sq_alloc_copies(sq));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, free_sq, bench));
	return &bench->qp;
}

/* The slot that the user fills next; it has left garbage in all of it */
static struct rxe_send_wqe *user_wqe(struct rxe_qp *qp, u32 opcode)
{
	struct rxe_queue *q = qp->sq.queue;
	struct rxe_send_wqe *wqe = queue_addr_from_index(q,
						q->buf->producer_index);

	memset(wqe, 0xee, sizeof(*wqe) + MAX_INLINE);
	wqe->wr.opcode = opcode;
	wqe->wr.send_flags = 0;
	wqe->dma.length = 0;
	wqe->dma.num_sge = 0;
	return wqe;
}

static void post(struct rxe_qp *qp)
{
	struct rxe_queue *q = qp->sq.queue;

	q->buf->producer_index = (q->buf->producer_index + 1) & q->index_mask;
}

static struct rxe_send_wqe *read_next(struct rxe_qp *qp)
{
	struct rxe_send_wqe *wqe = rxe_sq_read(qp);

	if (wqe)
		qp->req.wqe_index = queue_next_index(qp->sq.queue,
						     qp->req.wqe_index);
	return wqe;
}

struct refusal {
	const char *name;
	enum ib_qp_type type;
	u32 opcode;
	u32 flags;
	u32 length;
	u32 num_sge;
	enum ib_wc_status want;
};

static const struct refusal refusals[] = {
	{ "write", IB_QPT_RC, IB_WR_RDMA_WRITE, 0, 1 << 20, 1,
	  IB_WC_SUCCESS },
	{ "as many SGEs as there may be", IB_QPT_RC, IB_WR_SEND, 0, 64, MAX_SGE,
	  IB_WC_SUCCESS },
	{ "as much inline as there may be", IB_QPT_RC, IB_WR_SEND,
	  IB_SEND_INLINE, MAX_INLINE, 0, IB_WC_SUCCESS },
	{ "local invalidate", IB_QPT_RC, IB_WR_LOCAL_INV, 0, 0, 0,
	  IB_WC_SUCCESS },
	{ "a window's binding", IB_QPT_RC, IB_WR_BIND_MW, 0, 0, 0,
	  IB_WC_SUCCESS },
	{ "atomic write", IB_QPT_RC, IB_WR_ATOMIC_WRITE, 0, 8, 0,
	  IB_WC_SUCCESS },
	{ "a kernel pointer", IB_QPT_RC, IB_WR_REG_MR, 0, 0, 0,
	  IB_WC_LOC_QP_OP_ERR },
	{ "opcode behind the last", IB_QPT_RC, IB_WR_ATOMIC_WRITE + 1, 0, 0, 0,
	  IB_WC_LOC_QP_OP_ERR },
	{ "the highest opcode", IB_QPT_RC, U32_MAX, 0, 0, 0,
	  IB_WC_LOC_QP_OP_ERR },
	{ "opcode that nobody has", IB_QPT_RC, IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
	  0, 8, 1, IB_WC_LOC_QP_OP_ERR },
	{ "read by UC", IB_QPT_UC, IB_WR_RDMA_READ, 0, 64, 1,
	  IB_WC_LOC_QP_OP_ERR },
	{ "write by UD", IB_QPT_UD, IB_WR_RDMA_WRITE, 0, 64, 1,
	  IB_WC_LOC_QP_OP_ERR },
	{ "the longest message", IB_QPT_RC, IB_WR_RDMA_READ, 0,
	  RXE_PORT_MAX_MSG_SZ, 1, IB_WC_SUCCESS },
	{ "a byte more", IB_QPT_RC, IB_WR_RDMA_WRITE, 0,
	  RXE_PORT_MAX_MSG_SZ + 1, 1, IB_WC_LOC_LEN_ERR },
	{ "one SGE too many", IB_QPT_RC, IB_WR_SEND, 0, 64, MAX_SGE + 1,
	  IB_WC_LOC_QP_OP_ERR },
	{ "SGEs without end", IB_QPT_RC, IB_WR_SEND, 0, 64, U32_MAX,
	  IB_WC_LOC_QP_OP_ERR },
	{ "one byte inline too many", IB_QPT_RC, IB_WR_SEND, IB_SEND_INLINE,
	  MAX_INLINE + 1, 0, IB_WC_LOC_LEN_ERR },
	{ "inline without end", IB_QPT_RC, IB_WR_SEND, IB_SEND_INLINE, U32_MAX,
	  0, IB_WC_LOC_LEN_ERR },
	{ "read inline", IB_QPT_RC, IB_WR_RDMA_READ, IB_SEND_INLINE, 8, 0,
	  IB_WC_LOC_QP_OP_ERR },
	{ "atomic write of many bytes", IB_QPT_RC, IB_WR_ATOMIC_WRITE, 0, 4096,
	  0, IB_WC_LOC_LEN_ERR },
};

KUNIT_ARRAY_PARAM_DESC(refusal, refusals, name);

static void what_a_user_posts_is_checked(struct kunit *test)
{
	const struct refusal *c = test->param_value;
	struct rxe_qp *qp = new_qp(test, c->type);
	struct rxe_send_wqe *wqe = user_wqe(qp, c->opcode);

	wqe->wr.send_flags = c->flags;
	wqe->dma.length = c->length;
	wqe->dma.num_sge = c->num_sge;
	post(qp);
	wqe = read_next(qp);
	KUNIT_ASSERT_NOT_NULL(test, wqe);
	KUNIT_EXPECT_EQ(test, wqe->status, c->want);
	KUNIT_EXPECT_NULL(test, read_next(qp));
}

static void progress_is_not_the_users(struct kunit *test)
{
	struct rxe_qp *qp = new_qp(test, IB_QPT_RC);
	struct rxe_send_wqe *wqe = user_wqe(qp, IB_WR_RDMA_WRITE);

	wqe->dma.length = 64;
	wqe->dma.num_sge = 1;
	wqe->wr.wr.rdma.remote_addr = 0x1234;
	post(qp);
	wqe = read_next(qp);
	KUNIT_ASSERT_NOT_NULL(test, wqe);
	KUNIT_EXPECT_EQ(test, wqe->dma.resid, 64);
	KUNIT_EXPECT_EQ(test, wqe->dma.cur_sge, 0);
	KUNIT_EXPECT_EQ(test, wqe->dma.sge_offset, 0);
	KUNIT_EXPECT_EQ(test, wqe->state, wqe_state_posted);
	KUNIT_EXPECT_EQ(test, wqe->has_rd_atomic, 0);
	KUNIT_EXPECT_EQ(test, wqe->mask, WR_INLINE_MASK | WR_WRITE_MASK);
	KUNIT_EXPECT_EQ(test, wqe->iova, 0x1234);
}

static void rewritten_wqe_is_without_effect(struct kunit *test)
{
	struct rxe_qp *qp = new_qp(test, IB_QPT_RC);
	struct rxe_send_wqe *ring = user_wqe(qp, IB_WR_SEND);
	struct rxe_send_wqe *wqe;

	ring->wr.wr_id = 1;
	ring->wr.send_flags = IB_SEND_INLINE;
	ring->dma.length = 3;
	memcpy(ring->dma.inline_data, "abc", 3);
	post(qp);
	wqe = read_next(qp);
	KUNIT_ASSERT_NOT_NULL(test, wqe);

	memset(ring, 0xff, sizeof(*ring) + MAX_INLINE);
	KUNIT_EXPECT_PTR_EQ(test, rxe_sq_oldest(&qp->sq), wqe);
	KUNIT_EXPECT_EQ(test, wqe->wr.wr_id, 1);
	KUNIT_EXPECT_EQ(test, wqe->wr.opcode, IB_WR_SEND);
	KUNIT_EXPECT_EQ(test, wqe->dma.length, 3);
	KUNIT_EXPECT_MEMEQ(test, wqe->dma.inline_data, "abc", 3);
}

static void sges_are_copied(struct kunit *test)
{
	struct rxe_qp *qp = new_qp(test, IB_QPT_RC);
	struct rxe_send_wqe *ring = user_wqe(qp, IB_WR_RDMA_READ);
	struct rxe_send_wqe *wqe;

	ring->dma.length = 300;
	ring->dma.num_sge = 2;
	ring->dma.sge[0] = (struct rxe_sge){ .addr = 1, .length = 100 };
	ring->dma.sge[1] = (struct rxe_sge){ .addr = 2, .length = 200 };
	post(qp);
	wqe = read_next(qp);
	KUNIT_ASSERT_NOT_NULL(test, wqe);
	KUNIT_EXPECT_EQ(test, wqe->dma.sge[0].addr, 1);
	KUNIT_EXPECT_EQ(test, wqe->dma.sge[1].addr, 2);
	KUNIT_EXPECT_EQ(test, wqe->dma.sge[1].length, 200);
}

static void queue_is_read_in_order_across_wraps(struct kunit *test)
{
	struct rxe_qp *qp = new_qp(test, IB_QPT_RC);
	struct rxe_send_wqe *wqe;
	int i;

	KUNIT_EXPECT_NULL(test, rxe_sq_oldest(&qp->sq));
	for (i = 0; i < 3 * SLOTS; i++) {
		wqe = user_wqe(qp, IB_WR_SEND);
		wqe->wr.wr_id = i;
		post(qp);
		KUNIT_EXPECT_NULL(test, rxe_sq_oldest(&qp->sq));
		wqe = read_next(qp);
		KUNIT_ASSERT_NOT_NULL(test, wqe);
		KUNIT_EXPECT_EQ(test, wqe->wr.wr_id, i);
		KUNIT_EXPECT_PTR_EQ(test, rxe_sq_oldest(&qp->sq), wqe);
		queue_advance_consumer(qp->sq.queue, QUEUE_TYPE_FROM_CLIENT);
	}
}

/* One was read and has failed, one was read, one was not */
static void all_is_dropped_read_or_not(struct kunit *test)
{
	struct rxe_qp *qp = new_qp(test, IB_QPT_RC);
	struct rxe_send_wqe *wqe;
	struct ib_wc wc;
	int i;

	for (i = 0; i < 3; i++) {
		wqe = user_wqe(qp, i ? IB_WR_SEND : IB_WR_REG_MR);
		wqe->wr.wr_id = i;
		post(qp);
	}
	wqe = read_next(qp);
	KUNIT_ASSERT_NOT_NULL(test, wqe);
	wqe->state = wqe_state_error;
	read_next(qp);

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_TRUE(test, rxe_sq_drop(qp, &wc));
		KUNIT_EXPECT_EQ(test, wc.wr_id, i);
		KUNIT_EXPECT_EQ(test, wc.status, i ? IB_WC_WR_FLUSH_ERR :
						     IB_WC_LOC_QP_OP_ERR);
	}
	KUNIT_EXPECT_FALSE(test, rxe_sq_drop(qp, &wc));
	KUNIT_EXPECT_NULL(test, rxe_sq_oldest(&qp->sq));

	/* and the requester goes on with what is posted next */
	KUNIT_EXPECT_NULL(test, rxe_sq_read(qp));
	wqe = user_wqe(qp, IB_WR_SEND);
	wqe->wr.wr_id = 3;
	post(qp);
	wqe = read_next(qp);
	KUNIT_ASSERT_NOT_NULL(test, wqe);
	KUNIT_EXPECT_EQ(test, wqe->wr.wr_id, 3);
}

static struct kunit_case rxe_sq_cases[] = {
	KUNIT_CASE_PARAM(what_a_user_posts_is_checked, refusal_gen_params),
	KUNIT_CASE(progress_is_not_the_users),
	KUNIT_CASE(rewritten_wqe_is_without_effect),
	KUNIT_CASE(sges_are_copied),
	KUNIT_CASE(queue_is_read_in_order_across_wraps),
	KUNIT_CASE(all_is_dropped_read_or_not),
	{}
};

static struct kunit_suite rxe_sq_suite = {
	.name = "rxe_sq",
	.test_cases = rxe_sq_cases,
};

kunit_test_suite(rxe_sq_suite);
