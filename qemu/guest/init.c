// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PID 1 of a guest: prepares the file systems and the loopback device, then
 * hands over to the agent (agent.c), which runs commands for the host.
 *
 * Kernel parameters that the kernel does not know arrive in the environment:
 *   host=NAME        host name
 *   agent=DEVICE     the agent's tty (User-mode Linux); without it the agent
 *                    looks for the virtio port called "agent"
 *   cpu_mhz=N.NNN    clock rate to show where /proc/cpuinfo has none
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"

struct mount_point {
	const char *type;
	const char *dir;
	const char *options;
	int needed;		/* without it nothing works: stop */
};

/* The root is read-only: whatever programs write to is a tmpfs. */
static const struct mount_point mounts[] = {
	{ "proc",	"/proc",		NULL,		1 },
	{ "sysfs",	"/sys",			NULL,		1 },
	{ "devtmpfs",	"/dev",			NULL,		0 },
	{ "tmpfs",	"/run",			"mode=755",	1 },
	{ "tmpfs",	"/tmp",			"mode=1777",	1 },
	{ "tmpfs",	"/var",			"mode=755",	1 },
	{ "tmpfs",	"/root",		"mode=700",	1 },
	{ "tmpfs",	"/mnt",			"mode=755",	1 },
	{ "tmpfs",	"/dev/shm",		"mode=1777",	1 },
	{ "devpts",	"/dev/pts",		"gid=5,mode=620,ptmxmode=666", 0 },
	{ "debugfs",	"/sys/kernel/debug",	NULL,		0 },
	{ "tracefs",	"/sys/kernel/tracing",	NULL,		0 },
	{ "configfs",	"/sys/kernel/config",	NULL,		0 },
	{ "cgroup2",	"/sys/fs/cgroup",	NULL,		0 },
};

static const char *const dirs[] = {
	"/run/netns", "/run/lock", "/run/modules",
	"/var/lib", "/var/log", "/var/tmp", "/var/cache",
};

static const char *const links[][2] = {
	{ "/run",		"/var/run" },
	{ "/run/lock",		"/var/lock" },
	{ "/proc/self/fd",	"/dev/fd" },
	{ "/proc/self/fd/0",	"/dev/stdin" },
	{ "/proc/self/fd/1",	"/dev/stdout" },
	{ "/proc/self/fd/2",	"/dev/stderr" },
};

/* PID 1 has nobody to return to: the kernel panics, and the host sees it. */
static void die(const char *what, const char *which)
{
	fprintf(stderr, "init: %s %s: %s\n", what, which, strerror(errno));
	exit(1);
}

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		const struct mount_point *m = &mounts[i];

		mkdir(m->dir, 0755);
		if (mount(m->type, m->dir, m->type, 0, m->options) == 0)
			continue;
		/* EBUSY: the kernel mounted it already (devtmpfs). */
		if (m->needed && errno != EBUSY)
			die("mount", m->dir);
	}
}

static void make_entries(void)
{
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (mkdir(dirs[i], 0755) && errno != EEXIST)
			die("mkdir", dirs[i]);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			die("symlink", links[i][1]);
}

static void mount_payload(void)
{
	static const char *const disks[] = { "/dev/vdb", "/dev/ubdb" };

	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++)
		if (mount(disks[i], "/payload", "erofs", MS_RDONLY, NULL) == 0)
			return;
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr))
		perror("init: lo up");
	close(fd);
}

/*
 * perftest reads the clock rate from /proc/cpuinfo and gives up without one;
 * User-mode Linux shows none. Cover the file by a copy that has the line.
 */
static void show_clock_rate(const char *mhz)
{
	char line[256];
	FILE *in = fopen("/proc/cpuinfo", "re");
	FILE *out = fopen("/run/cpuinfo", "we");
	int found = 0;

	if (!in || !out)
		die("open", "/proc/cpuinfo");
	while (fgets(line, sizeof(line), in)) {
		found |= strncmp(line, "cpu MHz", 7) == 0;
		fputs(line, out);
		if (strncmp(line, "processor", 9) == 0)
			fprintf(out, "cpu MHz\t\t: %s\n", mhz);
	}
	fclose(in);
	fclose(out);
	if (!found && mount("/run/cpuinfo", "/proc/cpuinfo", NULL, MS_BIND, NULL))
		die("bind", "/proc/cpuinfo");
}

static void raise_limits(void)
{
	const struct rlimit memlock = { RLIM_INFINITY, RLIM_INFINITY };
	const struct rlimit files = { 65536, 65536 };

	if (setrlimit(RLIMIT_MEMLOCK, &memlock))
		perror("init: memlock");
	if (setrlimit(RLIMIT_NOFILE, &files))
		perror("init: nofile");
}

static void set_environment(void)
{
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/payload/bin:/usr/lib/busybox", 1);
	setenv("HOME", "/root", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("TERM", "linux", 0);
}

int main(void)
{
	const char *host = getenv("host");
	const char *mhz = getenv("cpu_mhz");
	const char *tty = getenv("agent");

	umask(022);
	mount_all();
	make_entries();
	mount_payload();
	raise_limits();
	loopback_up();
	if (host && sethostname(host, strlen(host)))
		perror("init: hostname");
	if (mhz)
		show_clock_rate(mhz);
	set_environment();
	agent_run(tty);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
