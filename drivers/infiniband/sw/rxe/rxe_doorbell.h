/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_DOORBELL_H
#define RXE_DOORBELL_H

struct rxe_qp;

/* Any context, process for a user's QP; may run the send side at once */
void rxe_doorbell(struct rxe_qp *qp);

#endif /* RXE_DOORBELL_H */
