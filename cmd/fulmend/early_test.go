package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/early"
)

// heavy are packages that the daemon needs and what it starts for a job does not;
// what they initialise takes a good part of the time in which a daemon starts.
var heavy = []string{
	"github.com/prometheus/client_golang/prometheus", "github.com/prometheus/procfs", "github.com/hashicorp/memberlist", "github.com/hashicorp/go-sockaddr",
	"github.com/miekg/dns", "net/http", "crypto/tls", "html/template",
}

// What is started for every job runs before what it does not need is initialised.
// This program has the daemon in it, as fulmend does.
func TestAJobsProcessesRunBeforeTheDaemonIsSetUp(t *testing.T) {
	initialised := func(args ...string) (packages map[string]bool, said string, status int) {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var out bytes.Buffer
		cmd.Stderr = &out
		_ = cmd.Run() // the status says more
		packages = map[string]bool{}
		for line := range strings.Lines(out.String()) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "init" {
				packages[fields[1]] = true
			} else {
				said += line
			}
		}
		return packages, said, cmd.ProcessState.ExitCode()
	}
	is := is.New(t)
	all, _, status := initialised("-test.run=^$")
	is.Equal(status, 0)
	for _, name := range heavy {
		if !all[name] {
			t.Errorf("%s is no part of the daemon any more, or initialises nothing: name another", name)
		}
	}
	for _, test := range []struct {
		args   []string
		said   string
		status int
	}{
		{[]string{early.Shim}, "fulmend shim: it takes the folder of a rank\n", api.ExitUsage},
		{[]string{early.Look, "two", "words"}, "fulmend look: it takes a request on its standard input\n", api.ExitUsage},
	} {
		before, said, status := initialised(test.args...)
		is.Equal(said, test.said)
		is.Equal(status, test.status)
		is.True(before["os"]) // what it needs is
		for _, name := range heavy {
			if before[name] {
				t.Errorf("%s is initialised before %q", name, test.args)
			}
		}
	}
}
