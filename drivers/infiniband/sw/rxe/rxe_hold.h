/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_HOLD_H
#define RXE_HOLD_H

#include <linux/skbuff.h>

#include "rxe_psn.h"

/* How far ahead; what a sender of this driver may have un-ACKed */
#define RXE_HOLD_PSNS	128

/* So many later packets tell that one is lost, as with TCP (RFC 5681) */
#define RXE_HOLD_PROOF	3

/* Where packets overtake others by more than that, four times as many, or
 * sixteen times; or so many jiffies more
 */
#define RXE_HOLD_PATIENCE	3

/* Packets that were lost indeed, until one may be so again a little earlier */
#define RXE_HOLD_LOSSES		16

/**
 * struct rxe_hold - Packets of a side that wait for an earlier one
 * @skbs: by their PSNs
 * @psn: of the earlier one
 * @since: when one began to wait for that, in jiffies
 * @proof: packets that have arrived since then
 * @told: PSN of the last one that was said to be lost
 * @losses: how many were since one was not
 * @patience: up to RXE_HOLD_PATIENCE
 * @lossy: of these packets one was lost
 * @doubt: about the last one; it has not been there for a while
 *
 * Only the side's run touches it.
 */
struct rxe_hold {
	struct sk_buff_head	skbs;
	u32			psn;
	unsigned long		since;
	unsigned int		proof;
	u32			told;
	u8			losses;
	u8			patience;
	bool			lossy;
	bool			doubt;
};

/**
 * rxe_hold_reaches() - Is a packet near enough to be kept?
 * @psn: its PSN
 * @expected: the PSN that is expected
 */
static inline bool rxe_hold_reaches(u32 psn, u32 expected)
{
	return psn_compare(psn, expected + RXE_HOLD_PSNS) <= 0;
}

void rxe_hold_init(struct rxe_hold *hold);
bool rxe_hold_add(struct rxe_hold *hold, struct sk_buff *skb, u32 expected,
		  unsigned long now);
u32 rxe_hold_first(const struct rxe_hold *hold);
struct sk_buff *rxe_hold_take(struct rxe_hold *hold, u32 expected);
bool rxe_hold_misses(struct rxe_hold *hold, u32 expected, unsigned long now);
void rxe_hold_twice(struct rxe_hold *hold, u32 psn);
void rxe_hold_purge(struct rxe_hold *hold);

/**
 * rxe_hold_proven() - Have many arrived while one is expected?
 * @hold: the side's
 */
static inline bool rxe_hold_proven(const struct rxe_hold *hold)
{
	return hold->proof >= RXE_HOLD_PROOF << (2 * hold->patience);
}

static inline bool rxe_hold_empty(const struct rxe_hold *hold)
{
	return skb_queue_empty(&hold->skbs);
}

#endif /* RXE_HOLD_H */
