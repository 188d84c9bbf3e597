/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_WINDOW_H
#define RXE_WINDOW_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "rxe_psn.h"

/* In packets. The least that still tells of a loss: the second one's NAK */
#define RXE_WINDOW_MIN		2
#define RXE_WINDOW_FIRST	8
#define RXE_WINDOW_MAX		128

/**
 * struct rxe_window - How many packets of a QP may be un-ACKed
 * @size: that many, RXE_WINDOW_MIN to RXE_WINDOW_MAX
 * @quick: up to this size it doubles with each flight
 * @least: what chance may have lost in this flight leaves so many
 * @mark: PSN that ends the flight when it is ACKed; a flight is what is sent in
 *	one round trip
 * @marked: when @mark was sent first, in jiffies
 * @rtt_min: shortest round trip so far on this way, in jiffies
 * @slow_min: the shortest one of the last @slow flights
 * @slow: flights in a row that took much longer, though next to nothing was sent
 * @timed: it has been sent
 * @limits: something has waited for an ACK in this flight
 * @cut: something was lost in this flight
 * @halved: and much
 *
 * Only the send side's run touches it.
 */
struct rxe_window {
	u32		size;
	u32		quick;
	u32		least;
	u32		mark;
	unsigned long	marked;
	unsigned long	rtt_min;
	unsigned long	slow_min;
	u32		slow;
	bool		timed;
	bool		limits;
	bool		cut;
	bool		halved;
};

void rxe_window_init(struct rxe_window *w, u32 psn);
void rxe_window_land(struct rxe_window *w, u32 next, unsigned long now);
void rxe_window_lost(struct rxe_window *w, u32 next);
void rxe_window_overflowed(struct rxe_window *w, u32 next);
void rxe_window_silent(struct rxe_window *w, u32 next);

/**
 * rxe_window_full() - Must the next packet wait for an ACK?
 * @w: the window
 * @next: PSN of the next packet
 * @oldest: PSN of the oldest one that is un-ACKed, or @next
 *
 * What is one request may exceed the window, a READ of many packets for example.
 */
static inline bool rxe_window_full(struct rxe_window *w, u32 next, u32 oldest)
{
	if (likely(psn_compare(next, oldest + w->size) < 0))
		return false;

	w->limits = true;
	return true;
}

/**
 * rxe_window_asks() - Has a packet to ask for an ACK?
 * @w: the window
 * @psn: PSN of the packet
 * @oldest: PSN of the oldest one that is un-ACKed
 * @unasked: packets since the last one that asked, with this one
 *
 * Those behind it would wait for the answer, or soon.
 */
static inline bool rxe_window_asks(const struct rxe_window *w, u32 psn,
				   u32 oldest, u32 unasked)
{
	return unasked >= w->size / 2 ||
	       psn_compare(psn + 1, oldest + w->size) >= 0;
}

/**
 * rxe_window_sent() - Note a packet that is sent, or sent again
 * @w: the window
 * @psn: its PSN
 * @now: jiffies
 */
static inline void rxe_window_sent(struct rxe_window *w, u32 psn,
				   unsigned long now)
{
	if (psn == w->mark && !w->timed) {
		w->marked = now;
		w->timed = true;
	}
}

/**
 * rxe_window_landed() - Has a flight ended?
 * @w: the window
 * @oldest: PSN of the oldest packet that is un-ACKed, or of the next one
 */
static inline bool rxe_window_landed(const struct rxe_window *w, u32 oldest)
{
	return psn_compare(oldest, w->mark) > 0;
}

#endif /* RXE_WINDOW_H */
