package activation

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// What sd_notify(3) and sd_watchdog_enabled(3) say: the variables, and the words.
const (
	envNotify       = "NOTIFY_SOCKET"
	envWatchdog     = "WATCHDOG_USEC"
	envWatchdogFor  = "WATCHDOG_PID"
	wordReady       = "READY=1"
	wordStopping    = "STOPPING=1"
	wordWatchdog    = "WATCHDOG=1"
	wordStatus      = "STATUS="
	longestWatchdog = 24 * time.Hour
)

// Supervisor is whoever started the program and wants to hear how it fares: systemd,
// for a unit of Type=notify. One that hears nothing is nil, and may be told all the
// same.
type Supervisor struct {
	address  *net.UnixAddr
	watchdog time.Duration
}

// TakeSupervisor finds out who wants to hear. It is called once, before the process
// starts others, for which the variables do not count. Nobody is no error.
func TakeSupervisor() (*Supervisor, error) {
	s, err := supervisor(os.Getenv, os.Getpid())
	for _, name := range []string{envNotify, envWatchdog, envWatchdogFor} {
		err = errors.Join(err, os.Unsetenv(name))
	}
	return s, err
}

func supervisor(getenv func(string) string, pid int) (*Supervisor, error) {
	path := getenv(envNotify)
	switch {
	case path == "":
		return nil, nil
	case !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "@"): // a file, or a name of Linux's abstract ones
		return nil, fmt.Errorf("%s is %q, which is not the path of a Unix socket", envNotify, path)
	}
	s := &Supervisor{address: &net.UnixAddr{Name: path, Net: "unixgram"}}
	if whose := getenv(envWatchdogFor); getenv(envWatchdog) == "" || whose != "" && whose != strconv.Itoa(pid) {
		return s, nil
	}
	microseconds, err := strconv.ParseInt(getenv(envWatchdog), 10, 64)
	if err != nil || microseconds <= 0 || microseconds > longestWatchdog.Microseconds() {
		return nil, fmt.Errorf("%s is %q, which is not a number of microseconds up to a day", envWatchdog, getenv(envWatchdog))
	}
	s.watchdog = time.Duration(microseconds) * time.Microsecond
	return s, nil
}

// Watchdog is how long the supervisor waits for Alive before it ends the program; 0:
// it does not wait for it.
func (s *Supervisor) Watchdog() time.Duration {
	if s == nil {
		return 0
	}
	return s.watchdog
}

// Ready says that whoever connects is answered, with a line for people.
func (s *Supervisor) Ready(status string) error { return s.notify(wordReady, wordStatus+status) }

// Stopping says that the end has begun.
func (s *Supervisor) Stopping() error { return s.notify(wordStopping) }

// Alive says that the program works; to be told within Watchdog again and again.
func (s *Supervisor) Alive() error { return s.notify(wordWatchdog) }

// notify sends one datagram, which is there when this returns, or fails.
func (s *Supervisor) notify(words ...string) error {
	if s == nil {
		return nil
	}
	conn, err := net.DialUnix(s.address.Net, nil, s.address)
	if err != nil {
		return fmt.Errorf("the supervisor cannot be notified: %w", err)
	}
	for i := range words { // a line is a word
		words[i] = strings.ReplaceAll(words[i], "\n", " ")
	}
	_, err = conn.Write([]byte(strings.Join(words, "\n")))
	return errors.Join(err, conn.Close())
}
