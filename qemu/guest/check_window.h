/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The server's memory window: bound over its buffer, invalidated locally or
 * by the client's send; and the client's try with the key that is no more.
 */
#ifndef CHECK_WINDOW_H
#define CHECK_WINDOW_H

#include "check_post.h"

#define WINDOW_WR_ID 0x77696e646f77ull

static bool window_wanted(const struct end *end)
{
	return end->plan.flags & PLAN_WINDOW || end->plan.op == OP_SEND_INV;
}

static void window_run(struct end *end, const char *what)
{
	struct ibv_wc wc;
	int error = ibv_wr_complete(end->qpx);

	if (error)
		fail("posting %s: %s", what, strerror(error));
	wait_for(end, end->send_cq, what, WINDOW_WR_ID, &wc);
}

/* Server: bind over the whole buffer, with a key not used before. */
static void window_bind(struct end *end)
{
	struct ibv_mw_bind_info info = {
		.mr = end->mr,
		.addr = end->self.buf,
		.length = end->buf_size,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	end->window = ibv_inc_rkey(end->mw->rkey);
	ibv_wr_start(end->qpx);
	end->qpx->wr_id = WINDOW_WR_ID;
	end->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(end->qpx, end->mw, end->window, &info);
	window_run(end, "the window's bind");
	/* The next bind names the window by the key that it has then. */
	end->mw->rkey = end->window;
}

/* Server: take the key back; the client's send may have done so already. */
static void window_invalidate(struct end *end)
{
	ibv_wr_start(end->qpx);
	end->qpx->wr_id = WINDOW_WR_ID;
	end->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(end->qpx, end->window);
	window_run(end, "the window's local invalidate");
}

/* Client: a write with the dead key must be refused, and end the QP. */
static void window_try_stale(struct end *end)
{
	struct ibv_wc wc;
	int error;

	ibv_wr_start(end->qpx);
	end->qpx->wr_id = WINDOW_WR_ID;
	end->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(end->qpx, end->window, end->peer.buf);
	ibv_wr_set_sge(end->qpx, end->mr->lkey, end->self.buf, 8);
	error = ibv_wr_complete(end->qpx);
	if (error)
		fail("posting a write with a stale key: %s", strerror(error));
	wait_any(end, end->send_cq, "a write with a stale key", &wc);
	if (wc.status != IBV_WC_REM_ACCESS_ERR)
		fail("a write with a stale key: status %s, expected %s",
		     ibv_wc_status_str(wc.status),
		     ibv_wc_status_str(IBV_WC_REM_ACCESS_ERR));
}

/* The end of a plan with a window: its key is dead, its memory untouched. */
static void window_finish(struct end *end)
{
	size_t at;

	snprintf(check_doing, sizeof(check_doing), "%s %s, invalidated window",
		 plan_type_name(&end->plan), plan_op(&end->plan)->name);
	if (end->client) {
		side_meet(0);
		window_try_stale(end);
		memset(end->buf, 0, 8);
		side_meet(0);
		return;
	}
	if (end->plan.op != OP_SEND_INV)
		window_invalidate(end);
	memset(end->buf, PATTERN_GUARD, END_GUARD);
	side_meet(0);
	side_meet(0);
	at = pattern_find_guard(end->buf, END_GUARD);
	if (at < END_GUARD)
		fail("a write with a stale key changed byte %zu", at);
}

#endif
