/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_FIND_H
#define RXE_FIND_H

#include <linux/types.h>

struct net_device;
struct rxe_dev;
struct rxe_qp;

/* RCU readers; what they return is valid until the reader ends */
struct rxe_dev *rxe_find_dev(struct net_device *ndev);
struct rxe_qp *rxe_find_qp(struct rxe_dev *rxe, u32 index);

/* Process context */
void rxe_find_forget(void);
void rxe_find_forget_sync(void);

#endif /* RXE_FIND_H */
