// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * verbs_rules: does a device keep what the verbs promise, and itself, when its
 * user does what it should not?
 *
 *	verbs_rules DEVICE GID-INDEX CASE
 *
 * A queue pair is connected to itself, so one host is enough. Exit status 0:
 * the case passed, 1: it did not, and standard error says why.
 */
#include "rule_pair.h"
#include "rule_ring.h"

/* The WQE is refused: it completes with the reason, the one behind it not */
static void expect_refusal(struct pair *pair, struct rxe_queue_buf *ring,
			   enum ibv_wc_status status)
{
	ring_post(pair, ring);
	pair_expect(pair->send_cq, 1, status, "refused WQE");
	pair_expect_error_state(pair);
}

static void ring_opcode(struct pair *pair)
{
	struct rxe_queue_buf *ring = ring_find();

	ring_fill(ring, 1)->wr.opcode = 0xffffffff;
	expect_refusal(pair, ring, IBV_WC_LOC_QP_OP_ERR);
}

/* IB_WR_REG_MR, which carries a pointer of the kernel's */
static void ring_reg_mr(struct pair *pair)
{
	struct rxe_queue_buf *ring = ring_find();
	struct rxe_send_wqe *wqe = ring_fill(ring, 1);

	wqe->wr.opcode = 0x20;
	wqe->wr.wr.rdma.remote_addr = 0xdead000000000100ull;
	expect_refusal(pair, ring, IBV_WC_LOC_QP_OP_ERR);
}

static void ring_num_sge(struct pair *pair)
{
	struct rxe_queue_buf *ring = ring_find();
	struct rxe_send_wqe *wqe = ring_fill(ring, 1);

	wqe->wr.send_flags = IBV_SEND_SIGNALED;
	wqe->dma.num_sge = 0x10000000;
	expect_refusal(pair, ring, IBV_WC_LOC_QP_OP_ERR);
}

static void ring_inline_length(struct pair *pair)
{
	struct rxe_queue_buf *ring = ring_find();
	struct rxe_send_wqe *wqe = ring_fill(ring, 1);

	wqe->dma.length = 1 << 16;
	wqe->dma.resid = 1 << 16;
	pair_post_recv(pair, 7);
	expect_refusal(pair, ring, IBV_WC_LOC_LEN_ERR);
}

/* A message has 2 GiB at most */
static void ring_length(struct pair *pair)
{
	struct rxe_queue_buf *ring = ring_find();
	struct rxe_send_wqe *wqe = ring_fill(ring, 1);

	wqe->wr.send_flags = IBV_SEND_SIGNALED;
	wqe->dma.length = 0xfffff800;
	wqe->dma.resid = 0xfffff800;
	wqe->dma.num_sge = 1;
	wqe->dma.sge[0].addr = (uintptr_t)pair->out;
	wqe->dma.sge[0].length = 0xfffff800;
	wqe->dma.sge[0].lkey = pair->mr->lkey;
	pair_post_recv(pair, 7);
	expect_refusal(pair, ring, IBV_WC_LOC_LEN_ERR);
}

/* The state of a WQE is the driver's: what a user writes there is ignored */
static void ring_state(struct pair *pair)
{
	struct rxe_queue_buf *ring = ring_find();
	struct rxe_send_wqe *wqe = ring_fill(ring, 1);

	wqe->dma.sge_offset = 4096;
	wqe->dma.resid = 8;
	wqe->dma.cur_sge = 1000;
	wqe->state = 3;
	wqe->status = 77;
	wqe->has_rd_atomic = 1;
	wqe->mask = 0xffffffff;
	pair_post_recv(pair, 7);
	ring_post(pair, ring);
	pair_expect(pair->send_cq, 1, IBV_WC_SUCCESS, "send");
	pair_expect(pair->recv_cq, 7, IBV_WC_SUCCESS, "receive");
	if (memcmp(pair->in, "verbatim", 8))
		fail("received other bytes than were sent");
}

/* The index is the user's; one that no ring has must not hang the device */
static void ring_index(struct pair *pair)
{
	struct rxe_queue_buf *ring = ring_find();

	pair_post_recv(pair, 7);
	ring_fill(ring, 1);
	ring->producer_index = 0x7f000001;
	ring_doorbell(pair);
	pair_expect(pair->send_cq, 1, IBV_WC_SUCCESS, "send");
	pair_expect(pair->recv_cq, 7, IBV_WC_SUCCESS, "receive");
}

/*
 * Scribbling over posted WQEs harms nobody but who does it: those that are being
 * sent complete, with an error at worst, as what they were.
 */
static void ring_scribble(struct pair *pair)
{
	struct rxe_queue_buf *ring = ring_find();
	size_t bytes = (size_t)(ring->index_mask + 1) << ring->log2_elem_size;
	struct ibv_wc wc;

	for (int i = 0; i < 16; i++)
		pair_post_write(pair, i, PAIR_BYTES);
	for (int i = 0; i < 200; i++)
		memset(ring->data, i, bytes);
	wc = pair_wait(pair->send_cq, "first write");
	if (wc.wr_id || (wc.status != IBV_WC_SUCCESS &&
			 wc.status != IBV_WC_WR_FLUSH_ERR))
		fail("first write: expected WR 0, got WR %llu with %s",
		     (unsigned long long)wc.wr_id,
		     ibv_wc_status_str(wc.status));
}

/* ibv_req_notify_cq(3): an error is as good as a solicited completion */
static void solicited_error(struct pair *pair)
{
	pair_post_recv(pair, 7);
	if (ibv_req_notify_cq(pair->recv_cq, 1))
		fail("ibv_req_notify_cq failed");
	pair_to_error(pair);
	if (!pair_readable(pair->channel->fd, PAIR_WAIT_MS))
		fail("no event for a flushed receive");
	pair_expect(pair->recv_cq, 7, IBV_WC_WR_FLUSH_ERR, "flushed receive");
}

/* Waits for an event of a kind, of whatever object */
static struct ibv_async_event wait_for_event(struct pair *pair,
					     enum ibv_event_type type)
{
	struct ibv_async_event event;

	do {
		if (!pair_readable(pair->context->async_fd, PAIR_WAIT_MS))
			fail("no event \"%s\"", ibv_event_type_str(type));
		if (ibv_get_async_event(pair->context, &event))
			fail("ibv_get_async_event failed");
		ibv_ack_async_event(&event);
	} while (event.event_type != type);
	return event;
}

static void expect_overflow_of(struct pair *pair, struct ibv_cq *cq)
{
	pair_expect_error_state(pair);
	if (wait_for_event(pair, IBV_EVENT_CQ_ERR).element.cq != cq)
		fail("the wrong completion queue has overflowed");
}

/* The consumer never polls: its completions have no room any more */
static void overflow(struct pair *pair)
{
	for (int i = 0; i < 32; i++)
		pair_post_write(pair, i, 8);
	expect_overflow_of(pair, pair->send_cq);
	pair_expect(pair->send_cq, 0, IBV_WC_SUCCESS, "first completion");
}

static void overflow_recv(struct pair *pair)
{
	for (int i = 0; i < 32; i++)
		pair_post_recv(pair, i);
	for (int i = 0; i < 32; i++)
		pair_post_op(pair, IBV_WR_SEND, i, 8, IBV_SEND_SIGNALED);
	expect_overflow_of(pair, pair->recv_cq);
	pair_expect(pair->recv_cq, 0, IBV_WC_SUCCESS, "first completion");
}

/* Not before what was posted has been done */
static void event_drained(struct pair *pair)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.en_sqd_async_notify = 1,
	};

	for (int i = 0; i < 8; i++)
		pair_post_write(pair, i, PAIR_BYTES / 4);
	pair_modify(pair, &attr, IBV_QP_EN_SQD_ASYNC_NOTIFY);
	if (wait_for_event(pair, IBV_EVENT_SQ_DRAINED).element.qp != pair->qp)
		fail("the wrong queue pair is drained");
}

static void event_srq_limit(struct pair *pair)
{
	struct ibv_srq_attr attr = { .srq_limit = 4 };

	for (int i = 0; i < 8; i++)
		pair_post_recv(pair, i);
	if (ibv_modify_srq(pair->srq, &attr, IBV_SRQ_LIMIT))
		fail("ibv_modify_srq failed");
	for (int i = 0; i < 4; i++)
		pair_post_op(pair, IBV_WR_SEND, i, 8, IBV_SEND_SIGNALED);
	for (int i = 0; i < 4; i++)
		pair_expect(pair->recv_cq, i, IBV_WC_SUCCESS, "receive");
	if (pair_readable(pair->context->async_fd, 100))
		fail("an event though there are as many as the limit");
	pair_post_op(pair, IBV_WR_SEND, 4, 8, IBV_SEND_SIGNALED);
	if (wait_for_event(pair, IBV_EVENT_SRQ_LIMIT_REACHED).element.srq !=
	    pair->srq)
		fail("the wrong shared receive queue");
	pair_post_op(pair, IBV_WR_SEND, 5, 8, IBV_SEND_SIGNALED);
	if (pair_readable(pair->context->async_fd, 100))
		fail("another event though the limit was not set again");
}

static void event_last_wqe(struct pair *pair)
{
	pair_to_error(pair);
	if (wait_for_event(pair, IBV_EVENT_QP_LAST_WQE_REACHED).element.qp !=
	    pair->qp)
		fail("the wrong queue pair");
}

/* Nothing is there to receive into when the messages come */
static void receiver_not_ready(struct pair *pair)
{
	const struct timespec pause = { .tv_nsec = 50000000 };

	for (int i = 0; i < 4; i++)
		pair_post_op(pair, IBV_WR_SEND, i, PAIR_BYTES / 4,
			     IBV_SEND_SIGNALED);
	for (int i = 0; i < 4; i++) {
		nanosleep(&pause, NULL);
		pair_post_recv(pair, i);
		pair_expect(pair->recv_cq, i, IBV_WC_SUCCESS, "receive");
		pair_expect(pair->send_cq, i, IBV_WC_SUCCESS, "send");
	}
}

#define ROUNDS	40

/* Of all that a mixed list has: what came before is done, and nothing else */
static void mixed_list(struct pair *pair)
{
	uint64_t *out = (void *)pair->out, *in = (void *)pair->in;
	uint64_t *was = out + 4 * ROUNDS, *read = out + 5 * ROUNDS;
	struct ibv_send_wr wr[3 * ROUNDS] = {};
	struct ibv_sge sge[3 * ROUNDS];

	for (int i = 0; i < 3 * ROUNDS; i++) {
		uint64_t *local = i % 3 == 0 ? out + i :
				  i % 3 == 1 ? was + i / 3 : read + i / 3;

		sge[i] = (struct ibv_sge){ (uintptr_t)local, sizeof(*local),
					   pair->mr->lkey };
		wr[i].wr_id = i;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
		wr[i].next = i + 1 < 3 * ROUNDS ? &wr[i + 1] : NULL;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].wr.rdma.remote_addr = (uintptr_t)in;
		wr[i].wr.rdma.rkey = pair->mr->rkey;
		switch (i % 3) {
		case 0:
			out[i] = 1000 * i;
			wr[i].opcode = IBV_WR_RDMA_WRITE;
			break;
		case 1:
			wr[i].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
			wr[i].wr.atomic.remote_addr = (uintptr_t)in;
			wr[i].wr.atomic.compare_add = 7;
			wr[i].wr.atomic.rkey = pair->mr->rkey;
			break;
		case 2:
			wr[i].opcode = IBV_WR_RDMA_READ;
		}
	}
	pair_post_list(pair, wr);
	for (int i = 0; i < 3 * ROUNDS; i++)
		pair_expect(pair->send_cq, i, IBV_WC_SUCCESS, "mixed list");
	for (int i = 0; i < ROUNDS; i++)
		if (was[i] != 3000ull * i || read[i] != was[i] + 7)
			fail("round %d: the atomic found %llu, the READ %llu",
			     i, (unsigned long long)was[i],
			     (unsigned long long)read[i]);
}

/* Whoever is still writing to it when a region ends, writes no more afterwards */
static void dereg_busy(struct pair *pair)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	struct ibv_mr *target = pair_check(ibv_reg_mr(pair->pd, pair->in,
						      PAIR_BYTES,
						      IBV_ACCESS_LOCAL_WRITE |
						      IBV_ACCESS_REMOTE_WRITE),
					   "ibv_reg_mr");
	struct ibv_mr source = *pair->mr, *all = pair->mr;
	struct ibv_wc wc;

	source.rkey = target->rkey;
	pair->mr = &source;
	memset(pair->out, 1, PAIR_BYTES);
	for (int i = 0; i < 64; i++)
		pair_post_write(pair, i, PAIR_BYTES);
	pair_expect(pair->send_cq, 0, IBV_WC_SUCCESS, "first write");
	if (ibv_dereg_mr(target))
		fail("ibv_dereg_mr failed");
	memset(pair->in, 2, PAIR_BYTES);
	nanosleep(&pause, NULL);
	for (int i = 0; i < PAIR_BYTES; i++)
		if (pair->in[i] != 2)
			fail("byte %d was written after the region's end", i);
	/* with the NAK, or flushed: the receiver is the sender, and in error */
	for (int i = 1; i < 64; i++)
		wc = pair_wait(pair->send_cq, "write");
	if (wc.status == IBV_WC_SUCCESS)
		fail("the last write came through");
	pair->mr = all;
}

static void check_moved(const uint8_t *now, const uint8_t *right, uint32_t bytes,
			const char *what)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (now[i] != right[i])
			fail("%s: byte %u of %u is not what it should be",
			     what, i, bytes);
	for (uint32_t i = bytes; i < bytes + 8192; i++)
		if (now[i])
			fail("%s: byte %u, behind the last, was written", what,
			     i - bytes);
}

/* With these keys; neither end of the bytes is where a page or a packet ends */
static void move_both_ways(struct pair *pair, uint32_t lkey, uint32_t rkey)
{
	const uint32_t bytes = 3 * 4096 + 77;
	struct ibv_mr keys = { .lkey = lkey, .rkey = rkey };
	struct ibv_mr *all = pair->mr;
	uint8_t *out = pair->out, *in = pair->in;

	pair->mr = &keys;
	pair->out += 1000;
	pair->in += 3001;
	memset(out, 0, 2 * PAIR_BYTES);
	for (uint32_t i = 0; i < bytes; i++)
		pair->out[i] = 1 + i % 255;
	pair_post_write(pair, 1, bytes);
	pair_expect(pair->send_cq, 1, IBV_WC_SUCCESS, "write");
	check_moved(pair->in, pair->out, bytes, "write");

	memset(out, 0, PAIR_BYTES);
	pair_post_op(pair, IBV_WR_RDMA_READ, 2, bytes, IBV_SEND_SIGNALED);
	pair_expect(pair->send_cq, 2, IBV_WC_SUCCESS, "read");
	check_moved(pair->out, pair->in, bytes, "read");
	pair->out = out;
	pair->in = in;
	pair->mr = all;
}

/* Of a region that is paged on demand the same bytes are moved as of any other */
static void on_demand(struct pair *pair)
{
	struct ibv_mr *odp = pair_check(ibv_reg_mr(pair->pd, pair->out,
						   2 * PAIR_BYTES,
						   IBV_ACCESS_LOCAL_WRITE |
						   IBV_ACCESS_REMOTE_READ |
						   IBV_ACCESS_REMOTE_WRITE |
						   IBV_ACCESS_ON_DEMAND),
					"ibv_reg_mr, paged on demand");

	move_both_ways(pair, pair->mr->lkey, pair->mr->rkey);
	move_both_ways(pair, odp->lkey, pair->mr->rkey);
	move_both_ways(pair, pair->mr->lkey, odp->rkey);
	move_both_ways(pair, odp->lkey, odp->rkey);
	if (ibv_dereg_mr(odp))
		fail("ibv_dereg_mr failed");
}

static void use_again(struct pair *pair)
{
	struct ibv_wc wc;

	pair_to_reset(pair);
	while (ibv_poll_cq(pair->send_cq, 1, &wc) > 0)
		;
	pair_up(pair);
	memcpy(pair->out, "again", 5);
	pair_post_write(pair, 100, 5);
	pair_expect(pair->send_cq, 100, IBV_WC_SUCCESS, "write after reset");
	if (memcmp(pair->in, "again", 5))
		fail("received other bytes than were sent");
}

/* What waited in the queue when it was reset must not come to life again */
static void reset_pending(struct pair *pair)
{
	for (int i = 0; i < 64; i++)
		pair_post_write(pair, i, PAIR_BYTES / 4);
	use_again(pair);
}

/* Nor what has failed, most of it not sent yet; the other end has no such region */
static void reset_failed(struct pair *pair)
{
	const struct pair_limits limits = PAIR_ROOMY;
	struct pair other = {};

	pair_make(&other, ibv_get_device_name(pair->context->device),
		  pair->gid_index, &limits);
	pair_to_reset(pair);
	pair_to_reset(&other);
	pair->peer = other.qp;
	other.peer = pair->qp;
	pair_up(pair);
	pair_up(&other);

	pair_post_write(pair, 1, PAIR_BYTES);
	pair_expect(pair->send_cq, 1, IBV_WC_REM_ACCESS_ERR, "write to nowhere");
	pair->peer = pair->qp;
	use_again(pair);
}

static void wait_for_number(struct pair *pair, uint64_t number)
{
	const volatile uint64_t *in = (void *)pair->in;
	int64_t end = pair_now_ms() + PAIR_WAIT_MS;

	while (*in != number)
		if (pair_now_ms() > end)
			fail("write %llu: only %llu came within %d ms",
			     (unsigned long long)number,
			     (unsigned long long)*in, PAIR_WAIT_MS);
}

/*
 * Whatever the length of a burst, and however many came like that before, all of
 * it is sent: nobody rings again until the last write has come. Only the first
 * of a burst asks for a completion, which has not been seen when the others are
 * posted.
 */
static void bursts(struct pair *pair)
{
	uint64_t *out = (void *)pair->out;
	unsigned int signaled = IBV_SEND_SIGNALED;

	srand(1);
	for (int i = 0; i < 400; i++) {
		int n = 1 + (i / 8 % 2 ? 19 : rand() % 40);
		uint64_t first = *out + 1;

		for (int j = 0; j < n; j++) {
			++*out;
			pair_post(pair, *out, sizeof(*out),
				  IBV_SEND_INLINE | (j ? 0 : signaled));
		}
		wait_for_number(pair, *out);
		pair_expect(pair->send_cq, first, IBV_WC_SUCCESS, "write");
	}
}

static const struct {
	const char *name;
	void (*run)(struct pair *pair);
	struct pair_limits limits;
} cases[] = {
	{ "ring-opcode",	ring_opcode,		PAIR_ROOMY },
	{ "ring-reg-mr",	ring_reg_mr,		PAIR_ROOMY },
	{ "ring-num-sge",	ring_num_sge,		PAIR_ROOMY },
	{ "ring-inline-length",	ring_inline_length,	PAIR_ROOMY },
	{ "ring-length",	ring_length,		PAIR_ROOMY },
	{ "ring-state",		ring_state,		PAIR_ROOMY },
	{ "ring-index",		ring_index,		PAIR_ROOMY },
	{ "ring-scribble",	ring_scribble,		PAIR_ROOMY },
	{ "solicited-error",	solicited_error,	{ 16, 8, 64, 256, 0 } },
	{ "overflow",		overflow,		{ 64, 8, 4, 256, 0 } },
	{ "overflow-recv",	overflow_recv,		{ 64, 64, 256, 4, 0 } },
	{ "event-drained",	event_drained,		PAIR_ROOMY },
	{ "event-srq-limit",	event_srq_limit,	{ 64, 0, 256, 256, 64 } },
	{ "event-last-wqe",	event_last_wqe,		{ 64, 0, 256, 256, 64 } },
	{ "not-ready",		receiver_not_ready,	PAIR_ROOMY },
	{ "mixed-list",		mixed_list,		PAIR_ROOMY },
	{ "dereg-busy",		dereg_busy,		PAIR_ROOMY },
	{ "on-demand",		on_demand,		PAIR_ROOMY },
	{ "bursts",		bursts,			PAIR_ROOMY },
	{ "reset-pending",	reset_pending,		{ 128, 8, 256, 256, 0 } },
	{ "reset-failed",	reset_failed,		{ 128, 8, 256, 256, 0 } },
};

int main(int argc, char **argv)
{
	struct pair pair = {};

	if (argc != 4)
		fail("usage: verbs_rules DEVICE GID-INDEX CASE");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, argv[3])) {
			pair_make(&pair, argv[1], atoi(argv[2]),
				  &cases[i].limits);
			cases[i].run(&pair);
			return 0;
		}
	fail("no case %s", argv[3]);
}
