package activation

import (
	"strconv"
	"testing"

	"github.com/matryer/is"
)

func variables(pid, count, names string) func(string) string {
	return func(name string) string {
		return map[string]string{envPID: pid, envCount: count, envNames: names}[name]
	}
}

func TestFromEnvironment(t *testing.T) {
	for name, tt := range map[string]struct {
		pid, count, names string
		want              []string
		isWrong           bool
	}{
		"nothing":              {"", "", "", nil, false},
		"two with names":       {"7", "2", "unix:api", []string{"unix", "api"}, false},
		"fewer names":          {"7", "2", "unix", []string{"unix", "handed-4"}, false},
		"an empty name":        {"7", "2", ":api", []string{"handed-3", "api"}, false},
		"more names":           {"7", "1", "unix:api", []string{"unix"}, false},
		"for another process":  {"8", "2", "unix:api", nil, false},
		"no process":           {"", "2", "unix:api", nil, false},
		"no number":            {"7", "two", "", nil, true},
		"below none":           {"7", "-1", "", nil, true},
		"more than there are":  {"7", "1000000", "", nil, true},
		"none":                 {"7", "0", "", []string{}, false},
		"another's are unread": {"8", "two", "", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, err := fromEnvironment(variables(tt.pid, tt.count, tt.names), 7)
			is.Equal(err != nil, tt.isWrong)
			is.Equal(got, tt.want)
		})
	}
}

func FuzzFromEnvironment(f *testing.F) {
	f.Add("7", "2", "unix:api")
	f.Add("7", "", "::")
	f.Fuzz(func(t *testing.T, pid, count, names string) {
		got, err := fromEnvironment(variables(pid, count, names), 7)
		n, bad := strconv.Atoi(count)
		if err == nil && len(got) > 0 && (pid != "7" || bad != nil || len(got) != n) {
			t.Errorf("%q of %q, %q, %q", got, pid, count, names)
		}
		for _, name := range got {
			if name == "" {
				t.Error("a socket has no name")
			}
		}
	})
}
