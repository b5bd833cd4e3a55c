package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// A daemon whose sockets somebody holds is started by a connection, stays stopped
// once it was told so, and is started again by word only.
func TestStopAndStart(t *testing.T) {
	is := is.New(t)
	home := newHome(t, "")
	tcp := listenTCP(t)
	k := keep(t, home, listenUnix(t, home), tcp)
	c := dial(t, k.socket)
	before := call[api.DaemonInfoResult](t, c, "daemon.info", nil)
	is.True(before.Activated)
	is.Equal(before.APIURL, "ws://"+tcp.Addr().String()+api.PathAPI)
	is.Equal(before.Socket, filepath.Join(home, "run", api.SocketFile))
	// Clients that know the folder only find it too.
	is.Equal(call[api.DaemonInfoResult](t, dial(t, before.Socket), "daemon.info", nil).PID, before.PID)
	call[api.Empty](t, c, "daemon.start", nil) // it runs already

	call[api.Empty](t, c, "daemon.stop", nil)
	is.Equal(k.ended(), api.ExitOK)
	c = dial(t, before.Socket) // wakes one that only says that it is stopped
	for _, method := range []string{"daemon.info", "node.list", "state.watch", "job.submit", "daemon.stop", "daemon.restart", "no.such.method"} {
		_, err := client.Call[json.RawMessage](t.Context(), c, method, nil)
		is.True(errors.Is(err, api.ReasonStopped)) // and not that the parameters are wrong
		is.Equal(api.AsError(err).Code, api.CodePrecondition)
	}
	for _, path := range []string{api.PathDashboard, api.PathSchema, api.PathMetrics, api.PathAPI, "/nothing"} {
		answer, err := http.Get("http://" + tcp.Addr().String() + path)
		is.NoErr(err)
		var reported api.Error
		is.NoErr(json.NewDecoder(answer.Body).Decode(&reported))
		answer.Body.Close()
		is.Equal(answer.StatusCode, http.StatusServiceUnavailable)
		is.Equal(reported.Data.Reason, api.ReasonStopped)
	}
	holdsNothing(t, k, home)

	call[api.Empty](t, c, "daemon.start", nil)
	after := info(t, k.socket)
	is.Equal(after.Node, before.Node)
	is.True(after.PID != before.PID)
	is.Equal(len(k.ends), 0) // it went on in the process that answered

	// A signal is no wish that it stays away: the next client has it back.
	k.signal(syscall.SIGTERM)
	is.Equal(k.ended(), api.ExitOK)
	is.True(info(t, k.socket).PID != after.PID)
}

// info asks until a daemon runs. Only who comes in the moment in which one ends has
// to ask again; all others wait in the socket's line for the next one.
func info(t *testing.T, socket string) api.DaemonInfoResult {
	t.Helper()
	for began := time.Now(); ; {
		result, err := ask(t, socket)
		if err == nil {
			return result
		}
		if time.Since(began) > timeout || !errors.Is(err, api.ReasonNoDaemon) && !errors.Is(err, api.ReasonStopped) && !errors.Is(err, api.ReasonStopping) {
			t.Fatal(err)
		}
	}
}

func ask(t *testing.T, socket string) (result api.DaemonInfoResult, err error) {
	c, err := client.Dial(t.Context(), client.Options{Addresses: []client.Address{{Socket: socket}}, Timeout: timeout})
	if err != nil {
		return result, err
	}
	defer c.Close()
	return client.Call[api.DaemonInfoResult](t.Context(), c, "daemon.info", nil)
}

// holdsNothing checks that a stopped daemon has neither the lock nor any file of its
// home open, and listens to nobody else.
func holdsNothing(t *testing.T, k *keeper, home string) {
	t.Helper()
	is := is.New(t)
	lock, err := os.OpenFile(filepath.Join(home, "state", "daemon.lock"), os.O_RDWR, 0)
	is.NoErr(err)
	defer lock.Close()
	is.NoErr(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	if runtime.GOOS != "linux" {
		return
	}
	k.mu.Lock()
	pid := k.process.Pid
	k.mu.Unlock()
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.ReadDir(folder)
	is.NoErr(err)
	listening := listeners(t, pid)
	for _, f := range open {
		target, _ := os.Readlink(filepath.Join(folder, f.Name())) // it may be closed by now
		is.True(!strings.HasPrefix(target, home))
	}
	is.Equal(listening, 1) // the API's port that was handed over
}

// listeners counts the TCP sockets of a process that listen.
func listeners(t *testing.T, pid int) int {
	t.Helper()
	is := is.New(t)
	sockets := map[string]bool{}
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.ReadDir(folder)
	is.NoErr(err)
	for _, f := range open {
		target, _ := os.Readlink(filepath.Join(folder, f.Name()))
		sockets[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
	}
	n := 0
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		is.NoErr(err)
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && sockets[f[9]] {
				n++
			}
		}
	}
	return n
}

// A restart that was asked for is brought about by whoever keeps the daemon, and who
// connects meanwhile waits.
func TestRestartKept(t *testing.T) {
	is := is.New(t)
	home := newHome(t, "")
	k := keep(t, home, listenUnix(t, home), listenTCP(t))
	c := dial(t, k.socket)
	before := call[api.DaemonInfoResult](t, c, "daemon.info", nil)
	call[api.Empty](t, c, "daemon.restart", nil)
	is.Equal(k.ended(), api.ExitRestart)
	after := info(t, k.socket)
	is.True(after.PID != before.PID)
	is.Equal(after.Node, before.Node)
}

// A port that another program holds is a condition, and the Unix socket serves.
func TestPortTaken(t *testing.T) {
	is := is.New(t)
	other := listenTCP(t)
	defer other.Close()
	port := other.Addr().(*net.TCPAddr).Port
	home := newHome(t, fmt.Sprintf("[api]\nport = %d\n", port))
	k := keep(t, home, listenUnix(t, home)) // launchd could not have the port either
	c := dial(t, k.socket)
	url := call[api.DaemonInfoResult](t, c, "daemon.info", nil).APIURL
	is.True(url != "" && !strings.Contains(url, fmt.Sprintf(":%d/", port)))
	condition := awaitCondition(t, c, api.ReasonAPIPortTaken, true)
	is.True(strings.Contains(url, strings.Fields(condition.Text[strings.Index(condition.Text, "127."):])[0]))
}

// A port of the configuration is served beside the one that is held.
func TestOtherPort(t *testing.T) {
	is := is.New(t)
	free := listenTCP(t)
	want := free.Addr().(*net.TCPAddr).Port
	free.Close()
	home := newHome(t, fmt.Sprintf("[api]\nport = %d\n", want))
	held := listenTCP(t)
	k := keep(t, home, listenUnix(t, home), held)
	info := call[api.DaemonInfoResult](t, dial(t, k.socket), "daemon.info", nil)
	is.True(!strings.Contains(info.APIURL, held.Addr().String()))
	for _, address := range []string{held.Addr().String(), strings.TrimSuffix(strings.TrimPrefix(info.APIURL, "ws://"), api.PathAPI)} {
		answer, err := http.Get("http://" + address + api.PathSchema)
		is.NoErr(err)
		answer.Body.Close()
		is.Equal(answer.StatusCode, http.StatusOK)
	}
}

// What is handed over and can serve nobody is an error that names it.
func TestWrongSockets(t *testing.T) {
	is := is.New(t)
	for _, address := range []string{"0.0.0.0:0", "127.0.0.1:0"} {
		home := newHome(t, "")
		wrong, err := net.Listen("tcp4", address)
		is.NoErr(err)
		defer wrong.Close()
		second := listenTCP(t)
		defer second.Close()
		var files []*os.File
		for _, l := range []net.Listener{wrong, second} {
			file, err := l.(*net.TCPListener).File()
			is.NoErr(err)
			defer file.Close()
			files = append(files, file)
		}
		out, err := fulmend(os.Args[0], home, files...).CombinedOutput()
		is.True(err != nil)
		is.True(strings.Contains(string(out), "was handed over"))
	}
}

// A daemon that keeps dying says so, once it lives.
func TestCrashLoop(t *testing.T) {
	is := is.New(t)
	home := newHome(t, "")
	k := keep(t, home, listenUnix(t, home), listenTCP(t))
	for range 3 {
		info(t, k.socket)
		k.signal(syscall.SIGKILL)
		is.Equal(k.ended(), -1)
	}
	c := dial(t, k.socket)
	is.True(strings.Contains(awaitCondition(t, c, api.ReasonCrashLoop, true).Text, "3 times"))
	call[api.Empty](t, c, "daemon.restart", nil) // an end that was asked for is none more
	is.Equal(k.ended(), api.ExitRestart)
	is.True(strings.Contains(awaitCondition(t, dial(t, k.socket), api.ReasonCrashLoop, true).Text, "3 times"))
}
