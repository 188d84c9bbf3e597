/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_RX_H
#define RXE_RX_H

struct sk_buff;
struct sock;

/* Process context, once in the life of a socket */
void rxe_rx_setup(struct sock *sk);

/* Softirq, RCU reader */
struct sk_buff *rxe_rx_packets(struct sk_buff *skb);
int rxe_rx(struct sock *sk, struct sk_buff *skb);

#endif /* RXE_RX_H */
