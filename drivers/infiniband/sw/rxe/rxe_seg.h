/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_SEG_H
#define RXE_SEG_H

#include <linux/netdev_features.h>
#include <linux/netdevice.h>

#include "rxe_hdr.h"
#include "rxe_opcode.h"
#include "rxe_tx.h"

struct sk_buff;

/* Shorter packets, and messages of one packet each, are as well off as a list */
#define RXE_SEG_BYTES	1024

/**
 * rxe_seg_wanted() - Does a device cut units itself, of any size they have?
 * @ndev: the network device
 *
 * One that takes packets as a list, see rxe_tx.c, is better off with that.
 *
 * Return: true if it does
 */
static inline bool rxe_seg_wanted(const struct net_device *ndev)
{
	const netdev_features_t wanted = NETIF_F_GSO_UDP_L4 | NETIF_F_SG;

	return (ndev->features & (wanted | NETIF_F_GSO_FRAGLIST)) == wanted &&
	       READ_ONCE(ndev->gso_max_segs) >= RXE_TX_PACKETS &&
	       READ_ONCE(ndev->gso_max_size) >= GSO_LEGACY_MAX_SIZE &&
	       READ_ONCE(ndev->gso_ipv4_max_size) >= GSO_LEGACY_MAX_SIZE;
}

/**
 * rxe_seg_is_part() - Does a message consist of several packets?
 * @pkt: one of them
 *
 * Return: true if it does
 */
static inline bool rxe_seg_is_part(const struct rxe_pkt_info *pkt)
{
	const u32 only = RXE_START_MASK | RXE_END_MASK;

	return (pkt->mask & only) != only;
}

/* Process context, once */
void rxe_seg_exit(void);

/* Process context or softirq, interrupts enabled */
struct sk_buff *rxe_seg_alloc(unsigned int len);

/* Anyone who has the packets */
bool rxe_seg_join(struct sk_buff *head, struct sk_buff *skb);
void rxe_seg_finish(struct sk_buff *head);

#endif /* RXE_SEG_H */
