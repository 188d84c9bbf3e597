/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What client and server each do in a round, and in a whole plan. */
#ifndef CHECK_ENDS_H
#define CHECK_ENDS_H

#include "check_round.h"

static void client_post(struct end *end, const struct round *round)
{
	struct work works[POST_MAX_LIST];
	uint32_t slot;

	memset(works, 0, sizeof(works));
	for (slot = 0; slot < round->count; slot++) {
		struct work *work = &works[slot];
		bool shared = plan_shares_word(&end->plan);

		if (shared)
			round_atomic(&end->plan, round, slot, work);
		work->msg = round->first + slot;
		work->data = (uintptr_t)round_slot(end, round, slot);
		work->size = round->size;
		work->rkey = end->window ? end->window : end->peer.rkey;
		work->remote = end_place(&end->plan, end->peer.buf,
					 shared ? 0 : slot, round->size,
					 shared ? round->first : work->msg);
	}
	post_works(end, works, round->count);
}

static void client_wait(struct end *end, const struct round *round)
{
	const struct op_kind *kind = plan_op(&end->plan);
	uint32_t done = 0;

	while (done < round->count) {
		struct ibv_wc wc;

		done += end->plan.list;
		if (done > round->count)
			done = round->count;
		wait_for(end, end->send_cq, kind->name,
			 round->first + done - 1, &wc);
		if (wc.opcode != kind->wc)
			fail("message %llu: completion opcode %d, expected %d",
			     (unsigned long long)wc.wr_id, wc.opcode,
			     kind->wc);
	}
}

/*
 * What a user does with a buffer that is not its own before the completion harms
 * the message, and nothing else.
 */
static void client_rewrite(struct end *end, const struct round *round)
{
	end->changing = end_stride(round->size) * round->count;
	client_post(end, round);
	client_wait(end, round);
	end->changing = 0;
	round_fill(end, round);
}

static void client_round(struct end *end, const struct round *round)
{
	uint64_t window;

	round_fill(end, round);
	window = side_meet(0);
	if (window_wanted(end))
		end->window = window;
	if (end->plan.flags & PLAN_REWRITE)
		client_rewrite(end, round);
	client_post(end, round);
	client_wait(end, round);
	round_check(end, round);
	side_meet(0);
}

/*
 * The kernel's IB_WC_WITH_INVALIDATE has another value than the library's
 * IBV_WC_WITH_INV, and mainline's rxe hands its own to the user.
 */
static unsigned int server_inv_flags(const struct end *end)
{
	return end->plan.flags & PLAN_STRICT ? IBV_WC_WITH_INV :
	       IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK;
}

static void server_check_wc(struct end *end, const struct round *round,
			    const struct ibv_wc *wc)
{
	const struct op_kind *kind = plan_op(&end->plan);
	bool ud = end->plan.type == IBV_QPT_UD;
	uint32_t size = round->size + (ud ? END_GRH : 0);
	uint32_t imm = post_imm(&end->plan, wc->wr_id);

	if (wc->opcode != (kind->remote ? IBV_WC_RECV_RDMA_WITH_IMM :
					  IBV_WC_RECV))
		fail("message %llu: receive completion opcode %d",
		     (unsigned long long)wc->wr_id, wc->opcode);
	if (wc->byte_len != size)
		fail("message %llu: %u bytes received, expected %u",
		     (unsigned long long)wc->wr_id, wc->byte_len, size);
	if (kind->imm && (!(wc->wc_flags & IBV_WC_WITH_IMM) ||
			  ntohl(wc->imm_data) != imm))
		fail("message %llu: immediate 0x%x (flags 0x%x), expected 0x%x",
		     (unsigned long long)wc->wr_id, ntohl(wc->imm_data),
		     wc->wc_flags, imm);
	if (end->plan.op == OP_SEND_INV &&
	    (!(wc->wc_flags & server_inv_flags(end)) ||
	     wc->invalidated_rkey != end->window))
		fail("message %llu: invalidated key 0x%x (flags 0x%x), expected 0x%x",
		     (unsigned long long)wc->wr_id, wc->invalidated_rkey,
		     wc->wc_flags, end->window);
	if (ud && (!(wc->wc_flags & IBV_WC_GRH) ||
		   wc->src_qp != end->peer.qpn))
		fail("message %llu: from QP 0x%x (flags 0x%x), expected 0x%x",
		     (unsigned long long)wc->wr_id, wc->src_qp, wc->wc_flags,
		     end->peer.qpn);
}

static void server_receive(struct end *end, const struct round *round)
{
	uint32_t slot;

	for (slot = 0; slot < round->count; slot++) {
		struct ibv_wc wc;

		wait_for(end, end->recv_cq, "receive", round->first + slot,
			 &wc);
		server_check_wc(end, round, &wc);
	}
}

/* A UC write completes at the client before its data has arrived here. */
static void server_await_write(struct end *end, const struct round *round)
{
	uint64_t start = wait_now_ms();
	uint32_t slot = 0;

	while (slot < round->count &&
	       wait_now_ms() - start < end->plan.wait_ms) {
		if (round_arrived(end, round, slot))
			slot++;
		else
			sched_yield();
	}
}

static void server_round(struct end *end, const struct round *round)
{
	const struct op_kind *kind = plan_op(&end->plan);
	uint32_t slot;

	round_fill(end, round);
	for (slot = 0; kind->receives && slot < round->count; slot++)
		post_receive(end, round->first + slot,
			     (uintptr_t)round_slot(end, round, slot),
			     round->size);
	if (window_wanted(end) && (!end->window || end->plan.op == OP_SEND_INV))
		window_bind(end);
	side_meet(end->window);
	if (kind->receives)
		server_receive(end, round);
	side_meet(0);
	if (end->plan.type == IBV_QPT_UC && !kind->receives)
		server_await_write(end, round);
	round_check(end, round);
}

/* Run all rounds of the plan in @end; returns the number of messages. */
static uint64_t ends_run(struct end *end)
{
	struct plan *plan = &end->plan;
	uint64_t first = 0;
	uint32_t i;

	for (i = 0; i < plan->size_count; i++) {
		uint32_t left = plan_messages(plan, plan->sizes[i]);

		snprintf(check_doing, sizeof(check_doing), "%s %s, %u bytes",
			 plan_type_name(plan), plan_op(plan)->name,
			 plan->sizes[i]);
		while (left) {
			struct round round = { first, left, plan->sizes[i] };

			/* One window, one invalidate: one message. */
			if (plan->op == OP_SEND_INV)
				round.count = 1;
			else if (round.count > plan->depth)
				round.count = plan->depth;
			if (end->client)
				client_round(end, &round);
			else
				server_round(end, &round);
			first += round.count;
			left -= round.count;
		}
	}
	/* The server's last comparison may still fail. */
	side_meet(0);
	if (window_wanted(end))
		window_finish(end);
	return first;
}

#endif
