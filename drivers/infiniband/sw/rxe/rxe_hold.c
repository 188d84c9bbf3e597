// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets of RC that have arrived before an earlier one.
 *
 * Stage:	the responder, between the check of the PSN and that of the rest;
 *		the completer, while the oldest WQE awaits data
 * In:		requests or answers with a later PSN than the expected one
 * Out:		each when its PSN is the expected one
 * Context:	the run of their side, or while it is stopped
 * Locks:	none
 * Never:	executes a request or answers it; completes a WQE
 *
 * The earlier one was just overtaken, or it is lost and the peer has to send it
 * again; what arrives meanwhile tells. A peer that sends again all that came
 * after it as well is none the worse for what we have kept: those are duplicates
 * then (IBTA volume 1, section 9.7.5.1.3).
 */
#include <linux/jiffies.h>

#include "rxe.h"
#include "rxe_hold.h"
#include "rxe_loc.h"

/**
 * rxe_hold_init() - Hold nothing
 * @hold: the side's
 */
void rxe_hold_init(struct rxe_hold *hold)
{
	*hold = (struct rxe_hold) { };
	__skb_queue_head_init(&hold->skbs);
}

static u32 psn_of(struct sk_buff *skb)
{
	return SKB_TO_PKT(skb)->psn;
}

static bool insert(struct sk_buff_head *skbs, struct sk_buff *skb)
{
	struct sk_buff *before;
	int diff = 1;

	skb_queue_reverse_walk(skbs, before) {
		diff = psn_compare(psn_of(skb), psn_of(before));
		if (diff >= 0)
			break;
	}
	if (!diff)
		return false;

	__skb_queue_after(skbs, before, skb);
	return true;
}

static void wait_for(struct rxe_hold *hold, u32 expected, unsigned long now)
{
	hold->psn = expected;
	hold->since = now;
	hold->proof = 0;
}

/**
 * rxe_hold_add() - Keep a packet for later
 * @hold: the side's
 * @skb: the packet
 * @expected: the PSN that is expected, an earlier one
 * @now: jiffies
 *
 * Return: false if it is too far ahead or there already; then it is the caller's
 */
bool rxe_hold_add(struct rxe_hold *hold, struct sk_buff *skb, u32 expected,
		  unsigned long now)
{
	if (!rxe_hold_reaches(psn_of(skb), expected))
		return false;

	if (rxe_hold_empty(hold) || hold->psn != expected)
		wait_for(hold, expected, now);
	if (!insert(&hold->skbs, skb))
		return false;

	hold->proof++;
	return true;
}

/**
 * rxe_hold_first() - Which packet is the first one that is held?
 * @hold: the side's, not empty
 *
 * Return: its PSN
 */
u32 rxe_hold_first(const struct rxe_hold *hold)
{
	return psn_of(skb_peek(&hold->skbs));
}

/**
 * rxe_hold_take() - Take the packet whose turn it is
 * @hold: the side's
 * @expected: the PSN that is expected
 *
 * Those whose turn has passed are freed: the peer has sent them again.
 *
 * Return: the packet, or NULL if it is not there
 */
struct sk_buff *rxe_hold_take(struct rxe_hold *hold, u32 expected)
{
	struct sk_buff *skb;
	int diff = 1;

	while ((skb = skb_peek(&hold->skbs))) {
		diff = psn_compare(psn_of(skb), expected);
		if (diff > 0)
			break;
		__skb_unlink(skb, &hold->skbs);
		if (!diff)
			break;
		kfree_skb(skb);
	}
	if (rxe_hold_empty(hold))
		hold->lossy = false;
	return diff ? NULL : skb;
}

static bool is_proven(const struct rxe_hold *hold, unsigned long now)
{
	return hold->lossy || rxe_hold_proven(hold) ||
	       time_after(now, hold->since + hold->patience);
}

static void note_told(struct rxe_hold *hold)
{
	hold->lossy = true;
	hold->doubt = true;
	hold->told = hold->psn;
	if (++hold->losses < RXE_HOLD_LOSSES)
		return;

	hold->losses = 0;
	if (hold->patience)
		hold->patience--;
}

/**
 * rxe_hold_misses() - Is the expected packet lost?
 * @hold: the side's, not empty
 * @expected: its PSN
 * @now: jiffies
 *
 * If one before it was, it is too; else if it is not among the next few, or does
 * not come soon.
 *
 * Return: true if it is, and the peer is about to be told
 */
bool rxe_hold_misses(struct rxe_hold *hold, u32 expected, unsigned long now)
{
	if (hold->psn != expected)
		wait_for(hold, expected, now);
	if (!is_proven(hold, now))
		return false;

	note_told(hold);
	return true;
}

/**
 * rxe_hold_twice() - Note a packet that has been there before
 * @hold: the side's
 * @psn: its PSN
 *
 * If the peer was told that it was lost, it was overtaken and is not.
 */
void rxe_hold_twice(struct rxe_hold *hold, u32 psn)
{
	if (!hold->doubt || psn != hold->told)
		return;

	hold->doubt = false;
	hold->losses = 0;
	if (hold->patience < RXE_HOLD_PATIENCE)
		hold->patience++;
}

/**
 * rxe_hold_purge() - Free all that is held
 * @hold: the side's
 */
void rxe_hold_purge(struct rxe_hold *hold)
{
	__skb_queue_purge(&hold->skbs);
	hold->lossy = false;
}
