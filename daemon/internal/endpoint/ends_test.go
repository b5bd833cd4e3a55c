package endpoint

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
)

// Of an answer that ends with its connection only its JSON shows that it is whole.
func TestAnswersThatAreCutShort(t *testing.T) {
	for text, want := range map[string]int{
		`200 OK|{"choices":[]}`:                    200,
		`404 Not Found|{"error":"no such"}`:        404,
		`404 Not Found|`:                           502,
		`200 OK|{"choices":[`:                      502,
		`200 OK|"` + strings.Repeat("x", maxWhole): 200, // goes on unseen
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			status, body, _ := strings.Cut(text, "|")
			r.serve("j00000001", ada, "org/m", func(w http.ResponseWriter, _ *http.Request) {
				conn, _, _ := w.(http.Hijacker).Hijack()
				_, _ = io.WriteString(conn, "HTTP/1.0 "+status+"\r\nContent-Type: application/json\r\n\r\n"+body)
				conn.Close()
			})
			got, answer := r.result(r.ask(t.Context(), hello))
			r.is.Equal(got, want)
			if want == 502 {
				r.is.True(strings.Contains(answer, `"code":"engine_ended"`))
			} else {
				r.is.Equal(answer, body)
			}
		})
	}
}

// Of a service that somebody ends new requests are refused at once, and those that go on
// have their time; then they end by an error.
func TestAnEndIsAnnounced(t *testing.T) {
	for name, test := range map[string]struct {
		takes time.Duration
		want  string
	}{
		"in time":  {api.DrainRequests - time.Second, "[DONE]"},
		"too long": {time.Hour, `"code":"service_stopped"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.serve("j00000001", ada, "org/m", func(w http.ResponseWriter, q *http.Request) {
					_ = event(w, "1")
					select {
					case <-time.After(test.takes):
						_ = event(w, "[DONE]")
					case <-q.Context().Done():
					}
				})
				ended := make(chan string)
				go func() {
					_, text := r.result(r.ask(t.Context(), hello))
					ended <- text
				}()
				time.Sleep(time.Millisecond)
				synctest.Wait()
				began := time.Now()
				r.put("j00000001", ada, "org/m", api.Job{Phase: api.JobEnding, Attempt: 1, StopRequested: &api.StopRequest{}})
				status, text := r.result(r.ask(t.Context(), hello))
				r.is.Equal(status, 503)
				r.is.True(strings.Contains(text, `"code":"service_stopped"`))
				r.is.Equal(time.Since(began), time.Duration(0))
				r.is.True(strings.Contains(<-ended, test.want))
				r.is.True(time.Since(began) <= api.DrainRequests)
				synctest.Wait()
				r.is.Equal([]int{len(r.backends), len(r.retired)}, []int{0, 0})
				r.mu.Lock()
				delete(r.known, "j00000001")
				r.mu.Unlock()
				status, _ = r.result(r.ask(t.Context(), hello))
				r.is.Equal(status, 404)
			})
		})
	}
}

// A service that another takes the place of keeps its requests waiting, also when it has ended
// and the other is not known yet; where none comes, for a moment only.
func TestReplaced(t *testing.T) {
	for name, test := range map[string]struct {
		comes bool
		want  int
		after time.Duration
	}{
		"another":  {true, 200, successorWithin / 2},
		"no other": {false, 404, successorWithin},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.serve("j00000001", ada, "org/m", answers("old"))
				began, ended := time.Now(), make(chan int)
				stop := &api.StopRequest{Reason: api.ReasonReplaced}
				r.put("j00000001", ada, "org/m", api.Job{Phase: api.JobEnding, Attempt: 1, StopRequested: stop})
				go func() {
					status, text := r.result(r.ask(t.Context(), hello))
					r.is.Equal(strings.Contains(text, "new"), test.comes)
					ended <- status
				}()
				synctest.Wait()
				r.put("j00000001", ada, "org/m", api.Job{Phase: api.JobStopped, Attempt: 1, StopRequested: stop})
				time.Sleep(successorWithin / 2)
				if test.comes {
					r.serve("j00000002", ada, "org/m", answers("new"))
				}
				r.is.Equal(<-ended, test.want)
				took := time.Since(began)
				r.is.True(took >= test.after && took < test.after+2*lookEvery)
				time.Sleep(successorWithin)
				r.see("j00000001") // its document is told of once more
				synctest.Wait()
				r.is.Equal(len(r.jobs) > 0, test.comes) // what has ended is forgotten
				r.is.Equal(len(r.jobs) < 2, true)
			})
		})
	}
}
