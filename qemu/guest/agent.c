// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The agent's line to the host: finds and opens it, reads and writes frames,
 * and turns them into calls of job.c. One thread, one poll loop.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

#include "agent.h"
#include "job.h"

#define PORTS "/sys/class/virtio-ports"
#define MAX_FDS 256

static int line = -1;
static int running = 1;
static bool is_tty;

static void give_up(const char *what)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool port_is_ours(const char *port)
{
	char path[300], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), PORTS "/%s/name", port);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	return strcmp(name, "agent\n") == 0;
}

static int open_port(void)
{
	DIR *dir = opendir(PORTS);
	struct dirent *entry;
	char path[300];
	int fd = -1;

	if (!dir)
		give_up(PORTS);
	while (fd < 0 && (entry = readdir(dir))) {
		if (!port_is_ours(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	closedir(dir);
	return fd;
}

static int open_tty(const char *tty)
{
	struct termios raw;
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", tty);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || tcgetattr(fd, &raw))
		return -1;
	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	return tcsetattr(fd, TCSANOW, &raw) ? -1 : fd;
}

static void write_all(const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(line, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			give_up("write to the host");
		p += n;
		len -= n;
	}
}

void agent_send(uint8_t type, uint32_t job, const void *data, uint32_t len)
{
	struct frame_header header = { len, type, job };

	write_all(&header, sizeof(header));
	if (len)
		write_all(data, len);
}

static void handle_frame(const struct frame_header *h, char *data)
{
	uint32_t word = 0;
	uint16_t size[2] = { 0, 0 };

	switch (h->type) {
	case FRAME_START:
	case FRAME_START_TTY:
		job_start(h->job, data, h->len, h->type == FRAME_START_TTY);
		break;
	case FRAME_STDIN:
		job_input(h->job, data, h->len);
		break;
	case FRAME_SIGNAL:
		if (h->len == sizeof(word)) {
			memcpy(&word, data, sizeof(word));
			job_signal(h->job, (int)word);
		}
		break;
	case FRAME_RESIZE:
		if (h->len == sizeof(size)) {
			memcpy(size, data, sizeof(size));
			job_resize(h->job, size[0], size[1]);
		}
		break;
	case FRAME_PING:
		agent_send(FRAME_PONG, h->job, NULL, 0);
		break;
	case FRAME_POWEROFF:
		running = 0;
		break;
	default:
		fprintf(stderr, "agent: frame of unknown type %u\n", h->type);
	}
}

/*
 * User-mode Linux loses the order of a tty's bytes when its buffer fills up:
 * the host only sends as much as we are known to have room for.
 */
static void acknowledge(size_t n)
{
	uint32_t word = (uint32_t)n;

	agent_send(FRAME_TOOK, 0, &word, sizeof(word));
}

/* Reads what is there and handles the frames that are complete. */
static void read_line(void)
{
	static char buf[FRAME_MAX + sizeof(struct frame_header) + 1];
	static size_t fill;
	struct frame_header h;
	ssize_t n = read(line, buf + fill, sizeof(buf) - 1 - fill);

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		running = 0;
		return;
	}
	if (is_tty)
		acknowledge(n);
	fill += n;
	while (running && fill >= sizeof(h)) {
		size_t whole;
		char after;

		memcpy(&h, buf, sizeof(h));
		if (h.len > FRAME_MAX)
			give_up("frame too long");
		whole = sizeof(h) + h.len;
		if (fill < whole)
			break;
		/* Strings in a frame can count on a NUL after its end. */
		after = buf[whole];
		buf[whole] = '\0';
		handle_frame(&h, buf + sizeof(h));
		buf[whole] = after;
		memmove(buf, buf + whole, fill - whole);
		fill -= whole;
	}
}

static int watch_children(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void loop(int children)
{
	struct pollfd fds[MAX_FDS];
	struct signalfd_siginfo info;

	while (running) {
		size_t n;

		fds[0] = (struct pollfd){ .fd = line, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = children, .events = POLLIN };
		n = jobs_poll_fill(fds + 2, MAX_FDS - 2);
		if (poll(fds, n + 2, -1) < 0 && errno != EINTR)
			give_up("poll");
		jobs_poll_handle(fds + 2, n);
		if (fds[1].revents) {
			while (read(children, &info, sizeof(info)) > 0)
				;
			jobs_reap();
		}
		if (fds[0].revents)
			read_line();
	}
}

void agent_run(const char *tty)
{
	struct utsname uts;
	int children = watch_children();

	is_tty = tty;
	line = tty ? open_tty(tty) : open_port();
	if (line < 0 || children < 0)
		give_up("no line to the host");
	uname(&uts);
	agent_send(FRAME_HELLO, 0, uts.release, strlen(uts.release));
	loop(children);
}
