/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The side channel: a TCP connection between the two ends of a check. It
 * carries plans and addresses, and lets both ends meet. Its local address
 * also says which GID to use: IPv4 as the mapped address, IPv6 as it is.
 */
#ifndef CHECK_SIDE_H
#define CHECK_SIDE_H

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "check_report.h"

#define SIDE_MAGIC 0x72786501u

struct side_msg {
	uint32_t magic;
	uint32_t status;	/* enum check_status */
	uint64_t value;
	char text[240];
};

static int side_fd = -1;

static void side_send(const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = send(side_fd, at, len, MSG_NOSIGNAL);

		if (n <= 0) {
			check_tell_peer = NULL;
			fail("side channel: send: %s", strerror(errno));
		}
		at += n;
		len -= n;
	}
}

static void side_recv(void *data, size_t len)
{
	char *at = data;

	while (len) {
		ssize_t n = recv(side_fd, at, len, 0);

		if (n <= 0) {
			check_tell_peer = NULL;
			fail("side channel: %s", !n ? "the peer is gone" :
			     errno == EAGAIN ? "no word from the peer" :
			     strerror(errno));
		}
		at += n;
		len -= n;
	}
}

static void side_tell(enum check_status status, const char *why)
{
	struct side_msg msg = { SIDE_MAGIC, status, 0, "" };

	check_tell_peer = NULL;
	snprintf(msg.text, sizeof(msg.text), "%s", why);
	side_send(&msg, sizeof(msg));
}

/* What the peer said; its failure or skip is ours too. */
static uint64_t side_heed(const struct side_msg *msg)
{
	if (msg->magic != SIDE_MAGIC)
		fail("side channel: a message of another kind, 0x%x",
		     msg->magic);
	if (msg->status == CHECK_OK)
		return msg->value;
	check_tell_peer = NULL;
	if (msg->status == CHECK_SKIPPED)
		skip("%.*s", (int)sizeof(msg->text) - 1, msg->text);
	fail("the peer failed: %.*s", (int)sizeof(msg->text) - 1, msg->text);
}

/* Wait until the peer is here too; hand it @value, return its value. */
static uint64_t side_meet(uint64_t value)
{
	struct side_msg msg = { SIDE_MAGIC, CHECK_OK, value, "" };

	side_send(&msg, sizeof(msg));
	side_recv(&msg, sizeof(msg));
	return side_heed(&msg);
}

/* While waiting for something else: has the peer given up meanwhile? */
static void side_glance(void)
{
	struct side_msg msg;
	ssize_t n = recv(side_fd, &msg, sizeof(msg), MSG_PEEK | MSG_DONTWAIT);

	if (n == sizeof(msg) && msg.magic == SIDE_MAGIC && msg.status)
		side_heed(&msg);
	if (n == 0) {
		check_tell_peer = NULL;
		fail("side channel: the peer is gone");
	}
}

static void side_use(int fd, uint32_t wait_ms)
{
	struct timeval limit = { wait_ms / 1000, wait_ms % 1000 * 1000 };
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	side_fd = fd;
	check_tell_peer = side_tell;
}

/* Say "ready" on standard output, then wait for the one client. */
static void side_accept(uint16_t port, uint32_t wait_ms)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6,
				    .sin6_port = htons(port) };
	int sock = socket(AF_INET6, SOCK_STREAM, 0);
	struct pollfd wait = { sock, POLLIN, 0 };
	int one = 1, zero = 0;
	int fd;

	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(sock, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (sock < 0 || bind(sock, (struct sockaddr *)&any, sizeof(any)) ||
	    listen(sock, 1))
		fail("cannot listen on TCP port %u: %s", port,
		     strerror(errno));
	printf("ready\n");
	fflush(stdout);
	if (poll(&wait, 1, wait_ms) != 1)
		fail("no client within %u ms", wait_ms);
	fd = accept(sock, NULL, NULL);
	if (fd < 0)
		fail("accept: %s", strerror(errno));
	close(sock);
	side_use(fd, wait_ms);
}

static void side_connect(const char *host, uint16_t port, uint32_t wait_ms)
{
	struct addrinfo hints = { .ai_family = AF_INET6,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_V4MAPPED | AI_NUMERICHOST };
	struct addrinfo *list;
	struct sockaddr_in6 to;
	int fd, error;

	error = getaddrinfo(host, NULL, &hints, &list);
	if (error)
		fail("%s: %s; expected an IPv4 or IPv6 address", host,
		     gai_strerror(error));
	memcpy(&to, list->ai_addr, sizeof(to));
	freeaddrinfo(list);
	to.sin6_port = htons(port);
	fd = socket(AF_INET6, SOCK_STREAM, 0);
	if (fd < 0)
		fail("socket: %s", strerror(errno));
	side_use(fd, wait_ms);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		check_tell_peer = NULL;
		fail("cannot connect to %s port %u: %s", host, port,
		     errno == EINPROGRESS ? "no answer" : strerror(errno));
	}
}

/* The address of this end, in the form that a RoCE v2 GID has. */
static struct in6_addr side_address(void)
{
	struct sockaddr_in6 self;
	socklen_t len = sizeof(self);

	if (getsockname(side_fd, (struct sockaddr *)&self, &len))
		fail("getsockname: %s", strerror(errno));
	return self.sin6_addr;
}

/* The index of the network interface with this end's IPv6 address. */
static unsigned int side_interface(void)
{
	struct in6_addr want = side_address();
	struct ifaddrs *list, *at;
	unsigned int index = 0;

	if (getifaddrs(&list))
		fail("getifaddrs: %s", strerror(errno));
	for (at = list; at; at = at->ifa_next) {
		struct sockaddr_in6 *has = (void *)at->ifa_addr;

		if (has && has->sin6_family == AF_INET6 &&
		    !memcmp(&has->sin6_addr, &want, sizeof(want)))
			index = if_nametoindex(at->ifa_name);
	}
	freeifaddrs(list);
	return index;
}

#endif
