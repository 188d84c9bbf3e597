/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Posting the messages of a round: with ibv_wr_*(), or with ibv_post_send()
 * where the plan says "classic"; and their receives.
 */
#ifndef CHECK_POST_H
#define CHECK_POST_H

#include "check_wait.h"

#define POST_MAX_LIST 64

/* One message, as its sender sees it. */
struct work {
	uint64_t msg;		/* its number, and the work request's id */
	uint64_t data;		/* local memory: source, or read's target */
	uint64_t remote;	/* memory of the server, for op_kind.remote */
	uint64_t operand;	/* atomics: what to compare with or to add */
	uint64_t swap;
	uint32_t size;
	uint32_t rkey;		/* of @remote, or what send_inv invalidates */
	bool signaled;
};

/* Immediate data of a message, as it appears in the completion. */
static uint32_t post_imm(const struct plan *plan, uint64_t msg)
{
	return pattern_word(plan->seed, msg, 1u << 31);
}

/* Cut @size bytes at @addr into the plan's elements, none of equal length. */
static int post_sges(const struct end *end, uint64_t addr, uint32_t size,
		     struct ibv_sge *sges)
{
	uint32_t left = size, count = 0;

	while (left && count < end->plan.sges) {
		uint32_t rest = end->plan.sges - count;
		uint32_t part = rest == 1 ? left : left / rest + left / 7 % 5;

		if (!part || part > left)
			part = left;
		sges[count++] = (struct ibv_sge){ addr, part, end->mr->lkey };
		addr += part;
		left -= part;
	}
	return count;
}

/*
 * ibv_wr_set_inline_data() should do without IBV_SEND_INLINE, but rdma-core
 * 44's for rxe does not pass it on, and the kernel goes by the flag.
 */
static unsigned int post_flags(const struct end *end, const struct work *work)
{
	return (work->signaled ? IBV_SEND_SIGNALED : 0) |
	       (end->plan.flags & PLAN_INLINE ? IBV_SEND_INLINE : 0);
}

static void post_op(struct end *end, const struct work *work)
{
	struct ibv_qp_ex *qp = end->qpx;
	uint32_t imm = htonl(post_imm(&end->plan, work->msg));

	switch (end->plan.op) {
	case OP_SEND:
		return ibv_wr_send(qp);
	case OP_SEND_IMM:
		return ibv_wr_send_imm(qp, imm);
	case OP_SEND_INV:
		return ibv_wr_send_inv(qp, work->rkey);
	case OP_WRITE:
		return ibv_wr_rdma_write(qp, work->rkey, work->remote);
	case OP_WRITE_IMM:
		return ibv_wr_rdma_write_imm(qp, work->rkey, work->remote,
					     imm);
	case OP_READ:
		return ibv_wr_rdma_read(qp, work->rkey, work->remote);
	case OP_CMP_SWAP:
		return ibv_wr_atomic_cmp_swp(qp, work->rkey, work->remote,
					     work->operand, work->swap);
	case OP_FETCH_ADD:
		return ibv_wr_atomic_fetch_add(qp, work->rkey, work->remote,
					       work->operand);
	case OP_ATOMIC_WRITE:
		return ibv_wr_atomic_write(qp, work->rkey, work->remote,
					   (void *)(uintptr_t)work->data);
#ifdef HAVE_IBV_WR_FLUSH
	case OP_FLUSH:
		/* There must be something to flush. */
		qp->wr_flags = 0;
		ibv_wr_rdma_write(qp, work->rkey, work->remote);
		ibv_wr_set_sge(qp, end->mr->lkey, work->data, work->size);
		qp->wr_flags = post_flags(end, work);
		return ibv_wr_flush(qp, work->rkey, work->remote, work->size,
				    IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
#endif
	}
	fail("operation %u cannot be posted", end->plan.op);
}

static uint32_t post_qpn(const struct end *end)
{
	return plan_has_group(&end->plan) ? END_GROUP_QPN : end->peer.qpn;
}

static void post_modern(struct end *end, const struct work *works, int count)
{
	struct ibv_qp_ex *qp = end->qpx;
	int i, error;

	ibv_wr_start(qp);
	for (i = 0; i < count; i++) {
		const struct work *work = &works[i];
		void *data = (void *)(uintptr_t)work->data;

		qp->wr_id = work->msg;
		qp->wr_flags = post_flags(end, work);
		post_op(end, work);
		if (end->plan.type == IBV_QPT_UD)
			ibv_wr_set_ud_addr(qp, end->ah, post_qpn(end),
					   END_QKEY);
		if (end->plan.op == OP_ATOMIC_WRITE ||
		    end->plan.op == OP_FLUSH)
			continue;
		if (end->plan.flags & PLAN_INLINE)
			ibv_wr_set_inline_data(qp, data, work->size);
		else
			ibv_wr_set_sge(qp, end->mr->lkey, work->data,
				       work->size);
	}
	error = ibv_wr_complete(qp);
	if (error)
		fail("ibv_wr_complete of %d messages: %s", count,
		     strerror(error));
}

static void post_classic_fill(struct end *end, const struct work *work,
			      struct ibv_send_wr *wr)
{
	const struct op_kind *kind = plan_op(&end->plan);

	wr->wr_id = work->msg;
	wr->opcode = kind->opcode;
	wr->send_flags = post_flags(end, work);
	wr->num_sge = post_sges(end, work->data, work->size, wr->sg_list);
	if (kind->imm)
		wr->imm_data = htonl(post_imm(&end->plan, work->msg));
	if (end->plan.op == OP_SEND_INV)
		wr->invalidate_rkey = work->rkey;
	if (plan_shares_word(&end->plan)) {
		wr->wr.atomic.remote_addr = work->remote;
		wr->wr.atomic.compare_add = work->operand;
		wr->wr.atomic.swap = work->swap;
		wr->wr.atomic.rkey = work->rkey;
	} else if (kind->remote) {
		wr->wr.rdma.remote_addr = work->remote;
		wr->wr.rdma.rkey = work->rkey;
	} else if (end->plan.type == IBV_QPT_UD) {
		wr->wr.ud.ah = end->ah;
		wr->wr.ud.remote_qpn = post_qpn(end);
		wr->wr.ud.remote_qkey = END_QKEY;
	}
}

static void post_classic(struct end *end, const struct work *works, int count)
{
	struct ibv_sge sges[POST_MAX_LIST][PLAN_MAX_SGES];
	struct ibv_send_wr wrs[POST_MAX_LIST];
	struct ibv_send_wr *bad;
	int i, error;

	memset(wrs, 0, sizeof(wrs));
	for (i = 0; i < count; i++) {
		wrs[i].sg_list = sges[i];
		wrs[i].next = i + 1 < count ? &wrs[i + 1] : NULL;
		post_classic_fill(end, &works[i], &wrs[i]);
	}
	error = ibv_post_send(end->qp, wrs, &bad);
	if (error)
		fail("ibv_post_send of %d messages: number %d: %s", count,
		     (int)(bad - wrs), strerror(error));
}

/* Post @count messages, list by list; the last of each list is signaled. */
static void post_works(struct end *end, struct work *works, uint32_t count)
{
	uint32_t done = 0;

	while (done < count) {
		uint32_t n = count - done;

		if (n > end->plan.list)
			n = end->plan.list;
		works[done + n - 1].signaled = true;
		if (end->plan.flags & PLAN_CLASSIC)
			post_classic(end, works + done, n);
		else
			post_modern(end, works + done, n);
		done += n;
	}
}

/* Post the receive of one message; UD's places a header before it. */
static void post_receive(struct end *end, uint64_t msg, uint64_t data,
			 uint32_t size)
{
	struct ibv_sge sges[PLAN_MAX_SGES];
	struct ibv_recv_wr wr = { .wr_id = msg, .sg_list = sges };
	struct ibv_recv_wr *bad;
	int error;

	if (end->plan.type == IBV_QPT_UD) {
		data -= END_GRH;
		size += END_GRH;
	}
	if (!plan_op(&end->plan)->remote)
		wr.num_sge = post_sges(end, data, size, sges);
	error = end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad) :
			   ibv_post_recv(end->qp, &wr, &bad);
	if (error)
		fail("posting the receive of message %llu: %s",
		     (unsigned long long)msg, strerror(error));
}

#endif
