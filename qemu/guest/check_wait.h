/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Waiting for a completion, polling or asleep on the completion channel, not
 * longer than the plan allows and not when the peer has given up.
 */
#ifndef CHECK_WAIT_H
#define CHECK_WAIT_H

#include <sched.h>

#include "check_end.h"

#define WAIT_GLANCE_MS 50

static uint64_t wait_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

static bool wait_poll(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(cq, 1, wc);

	if (n < 0)
		fail("ibv_poll_cq returned %d", n);
	return n;
}

/*
 * Sleep until the channel has an event and arm its CQ again. Both CQs are
 * always armed here, so a completion without an event is the driver's fault.
 * Returns false when nothing came within WAIT_GLANCE_MS.
 */
static bool wait_event(struct end *end)
{
	struct pollfd fd = { end->channel->fd, POLLIN, 0 };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, WAIT_GLANCE_MS) != 1)
		return false;
	if (ibv_get_cq_event(end->channel, &cq, &context))
		fail("ibv_get_cq_event: %s", strerror(errno));
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		fail("ibv_req_notify_cq: %s", strerror(errno));
	return true;
}

__attribute__((noreturn))
static void wait_missed(struct end *end, struct ibv_cq *cq, const char *what)
{
	struct ibv_wc wc;

	if (end->channel && wait_poll(cq, &wc))
		fail("no event for %s within %u ms, though its completion is there (%s)",
		     what, end->plan.wait_ms, ibv_wc_status_str(wc.status));
	fail("no completion of %s within %u ms", what, end->plan.wait_ms);
}

/* Change a byte of each cache line of what is being sent. */
static void wait_change(struct end *end)
{
	size_t at;

	for (at = 0; at < end->changing; at += 64)
		end->buf[at]++;
}

/* Take the next completion of @cq, whatever its status. */
static void wait_any(struct end *end, struct ibv_cq *cq, const char *what,
		     struct ibv_wc *wc)
{
	uint64_t start = wait_now_ms(), glanced = start, now;

	while (!wait_poll(cq, wc)) {
		wait_change(end);
		/* After an event (or a yield) poll before anything else. */
		if (end->channel && wait_event(end))
			continue;
		if (!end->channel)
			sched_yield();
		now = wait_now_ms();
		if (now - glanced >= WAIT_GLANCE_MS) {
			side_glance();
			glanced = now;
		}
		if (now - start < end->plan.wait_ms)
			continue;
		wait_missed(end, cq, what);
	}
}

/* Take the next completion, which must be of @wr_id and successful. */
static void wait_for(struct end *end, struct ibv_cq *cq, const char *what,
		     uint64_t wr_id, struct ibv_wc *wc)
{
	wait_any(end, cq, what, wc);
	if (wc->status != IBV_WC_SUCCESS)
		fail("%s of message %llu: status %s (vendor 0x%x)", what,
		     (unsigned long long)wc->wr_id,
		     ibv_wc_status_str(wc->status), wc->vendor_err);
	if (wc->wr_id != wr_id)
		fail("%s: completion of message %llu, expected %llu", what,
		     (unsigned long long)wc->wr_id,
		     (unsigned long long)wr_id);
}

#endif
