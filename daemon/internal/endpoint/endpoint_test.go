package endpoint

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

const hello = `{"model":"org/m","messages":[]}`

// Requests go by their model, or by the instance's name, as they are but for the name that
// the engine has for it; /v1/models joins what somebody may use.
func TestRequestsGoByTheirModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var got *http.Request
		first := r.serve("j00000001", ada, "org/m", func(w http.ResponseWriter, q *http.Request) {
			got = q.Clone(context.Background())
			w.Header().Set("Access-Control-Allow-Origin", "*")
			answers("one")(w, q)
		})
		second := r.serve("j00000002", bob, "org/n", answers("two"))
		r.serve("j00000003", api.Principal{User: "eve", Node: bob.Node}, "org/e", answers("three"))
		r.known["j00000002"].Spec.Labels[api.LabelEngineModel] = "default_model"

		response, err := r.ask(t.Context(), hello, header("Authorization", "Bearer none"), header("Cookie", "a=b"), header("Accept", "x/y"))
		r.is.NoErr(err)
		r.is.Equal(response.Header.Get("Access-Control-Allow-Origin"), "")
		status, text := r.result(response, err)
		r.is.Equal([]any{status, text}, []any{200, "one"})
		r.is.Equal(first.bodies(), []string{hello})
		r.is.Equal([]string{got.Host, got.URL.Path, got.Header.Get("Authorization"), got.Header.Get("Cookie"), got.Header.Get("Accept")}, []string{"localhost:8080", "/v1/chat/completions", "", "", "x/y"})
		_, text = r.result(r.ask(t.Context(), `{ "messages": ["\"model\":1"], "model" : "named-j00000002", "x": {"model": "y"} }`))
		r.is.Equal(text, "two")
		r.is.Equal(second.bodies(), []string{`{ "messages": ["\"model\":1"], "model" : "default_model", "x": {"model": "y"} }`})

		_, text = r.result(r.ask(t.Context(), form("org/n"), header("Content-Type", `multipart/form-data; boundary="b c"`)))
		r.is.Equal(text, "two")
		r.is.Equal(second.bodies()[1], form("default_model"))

		status, text = r.result(r.ask(t.Context(), `{"model":"org/e"}`)) // it is there, and not ada's
		r.is.Equal(status, 404)
		r.is.True(strings.Contains(text, `"code":"model_not_found"`) && strings.Contains(text, `"type":"invalid_request_error"`))
		_, text = r.result(r.askFrom(t.Context(), "127.0.0.1:5000", "127.0.0.1:7733", http.MethodGet, "/v1/models", ""))
		r.is.Equal(text, fmt.Sprintf(`{"object":"list","data":[{"id":"org/m","object":"model","created":%d,"owned_by":"ada@%s"},{"id":"org/n","object":"model","created":%d,"owned_by":"bob@%s"}]}`+"\n",
			time.Now().Unix(), self, time.Now().Unix(), bob.Node))
		status, text = r.result(r.askFrom(t.Context(), "127.0.0.1:5000", "127.0.0.1:7733", http.MethodGet, "/v1/models/org/n", ""))
		r.is.True(status == 200 && strings.HasPrefix(text, `{"id":"org/n"`))
		for _, path := range []string{"/v1/models/org/e", "/", "/v1/files", "/metrics"} {
			status, _ = r.result(r.askFrom(t.Context(), "127.0.0.1:5000", "127.0.0.1:7733", http.MethodGet, path, ""))
			r.is.Equal(status, 404)
		}
		// One's own comes before that of others.
		r.serve("j00000004", bob, "org/m", answers("another's"))
		for range 4 {
			_, text = r.result(r.ask(t.Context(), hello))
			r.is.Equal(text, "one")
		}
	})
}

// A stream comes as it is sent, each part at once, and is the same to the byte.
func TestStreamsComeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.serve("j00000001", ada, "org/m", func(w http.ResponseWriter, _ *http.Request) {
			for i := range 3 {
				_ = event(w, fmt.Sprintf(`{"n":%d,"é":"<&>"}`, i))
				time.Sleep(time.Second)
			}
			_ = event(w, "[DONE]")
		})
		began := time.Now()
		response, err := r.ask(t.Context(), hello)
		r.is.NoErr(err)
		lines := bufio.NewReader(response.Body)
		for i := range 3 {
			line, err := lines.ReadString('\n')
			r.is.NoErr(err)
			r.is.Equal(line, fmt.Sprintf("data: {\"n\":%d,\"é\":\"<&>\"}\n", i))
			r.is.Equal(time.Since(began), time.Duration(i)*time.Second)
			_, _ = lines.ReadString('\n')
		}
		rest, err := io.ReadAll(lines)
		r.is.NoErr(err)
		r.is.Equal(string(rest), "data: [DONE]\n\n")
	})
}

// Who waits goes on as soon as the service is ready, and is answered by 503 when the time is over.
func TestRequestsWaitForAService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		began := time.Now()
		status, _ := r.result(r.ask(t.Context(), hello)) // the jobs are not known yet
		r.is.Equal(status, 503)
		r.is.Equal(time.Since(began), r.settings.Wait)
		r.put("j00000001", ada, "org/m", api.Job{Phase: api.JobBackoff, Attempt: 1})
		began = time.Now()
		response, err := r.ask(t.Context(), hello)
		r.is.NoErr(err)
		r.is.Equal(response.Header.Get("Retry-After"), "5")
		status, text := r.result(response, err)
		r.is.Equal(status, 503)
		r.is.True(strings.Contains(text, `"code":"service_not_ready"`) && strings.Contains(text, `"type":"server_error"`))
		r.is.Equal(time.Since(began), r.settings.Wait)

		// It was told ready, and nobody listens yet: nothing was lost, so it is tried again.
		began = time.Now()
		go func() {
			time.Sleep(3 * time.Second)
			r.put("j00000001", ada, "org/m", api.Job{Phase: api.JobRunning, Attempt: 2})
			time.Sleep(time.Second)
			r.start(api.RankRef{Job: "j00000001", Attempt: 2}, answers("at last"))
		}()
		_, text = r.result(r.ask(t.Context(), hello))
		r.is.Equal(text, "at last")
		r.is.True(time.Since(began)-4*time.Second <= lookEvery)
		r.is.Equal(r.waiting, 0)

		// Not ready by its probe is not ready.
		r.put("j00000001", ada, "org/m", api.Job{Phase: api.JobRunning, Attempt: 2, Reason: api.ReasonNotReady})
		status, _ = r.result(r.ask(t.Context(), hello))
		r.is.Equal(status, 503)

		// So many wait, and one more does not.
		r.settings.Wait = time.Second
		var all sync.WaitGroup
		for range maxWaiting {
			all.Go(func() { _, _ = r.result(r.ask(t.Context(), hello)) })
		}
		synctest.Wait()
		began = time.Now()
		status, _ = r.result(r.ask(t.Context(), hello))
		r.is.Equal(status, 503)
		r.is.Equal(time.Since(began), time.Duration(0))
		all.Wait()
	})
}

// A stream that its engine breaks ends by an event that says so, also where the connection
// ends in good order, as that of a killed program does.
func TestACutStreamSaysSo(t *testing.T) {
	const broken = `data: {"error":{"code":"engine_ended","message":"The engine ended before the answer did. Try again.","param":null,"type":"server_error"}}` + "\n\n"
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"broken": {func(w http.ResponseWriter, _ *http.Request) {
			_ = event(w, "1")
			panic(http.ErrAbortHandler)
		}, "data: 1\n\n" + broken},
		"in an event": {func(w http.ResponseWriter, _ *http.Request) {
			_ = event(w, "1")
			_, _ = io.WriteString(w, "data: 2")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "data: 1\n\ndata: 2\n\n" + broken},
		"in good order": {bare("data: 1\n\n"), "data: 1\n\n" + broken},
		"whole":         {bare("data: 1\n\ndata: [DONE]\n\n"), "data: 1\n\ndata: [DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.serve("j00000001", ada, "org/m", test.answer)
				_, text := r.result(r.ask(t.Context(), hello))
				r.is.Equal(text, test.want)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // what is no stream can only break, or be refused
		r := newRig(t)
		g := r.serve("j00000001", ada, "org/m", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			answers("abc")(w, nil)
		})
		_, text := r.result(r.ask(t.Context(), hello))
		r.is.True(strings.Contains(text, "EOF"))
		g.server.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		status, text := r.result(r.ask(t.Context(), hello))
		r.is.Equal(status, 502)
		r.is.True(strings.Contains(text, `"code":"engine_ended"`))
	})
}

// bare answers as an HTTP/1.0 program does, whose answer ends with its connection.
func bare(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+text)
		conn.Close()
	}
}

// A client that leaves ends its request at the engine.
func TestAClientThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		left := make(chan time.Time, 2)
		r.serve("j00000001", ada, "org/m", func(w http.ResponseWriter, q *http.Request) {
			if strings.Contains(q.URL.Path, "chat") {
				_ = event(w, "1")
			}
			<-q.Context().Done()
			left <- time.Now()
		})
		for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} { // in the answer, and before it
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				response, err := r.askFrom(ctx, "127.0.0.1:5000", "127.0.0.1:7733", http.MethodPost, path, hello)
				if err == nil {
					_, _ = io.ReadAll(response.Body)
				}
			}()
			time.Sleep(time.Minute)
			synctest.Wait()
			began := time.Now()
			leave()
			r.is.True((<-left).Sub(began) < time.Second)
		}
		synctest.Wait()
		r.is.Equal(r.openLocked(api.RankRef{Job: "j00000001", Attempt: 1}), 0)
	})
}

// Where the Mac of rank 0 goes away for a moment, what goes on has its time, and new requests wait
// until it is back, and are not cut with those before.
func TestAMacThatGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.serve("j00000001", ada, "org/m", func(w http.ResponseWriter, q *http.Request) {
			_ = event(w, "1")
			select {
			case <-time.After(api.DrainRequests + 5*time.Second):
				_ = event(w, "[DONE]")
			case <-q.Context().Done():
			}
		})
		texts := make(chan string, 2)
		ask := func() {
			_, text := r.result(r.ask(t.Context(), hello))
			texts <- text
		}
		go ask()
		time.Sleep(time.Millisecond)
		synctest.Wait()
		r.asleep.Store(true)
		r.look()
		go ask()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		r.is.Equal(r.waiting, 1)
		r.asleep.Store(false)
		r.look()
		r.is.True(strings.Contains(<-texts, `"code":"service_stopped"`))
		r.is.Equal(<-texts, "data: 1\n\ndata: [DONE]\n\n")
	})
}

// At the end of the daemon what goes on has its time too, who waits does not, and what is
// left ends by an error.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.serve("j00000001", ada, "org/m", func(w http.ResponseWriter, q *http.Request) {
			_ = event(w, "1")
			<-q.Context().Done()
		})
		r.put("j00000002", ada, "org/n", api.Job{Phase: api.JobBackoff})
		ended := make(chan string, 2)
		for _, body := range []string{hello, `{"model":"org/n"}`} {
			go func() {
				_, text := r.result(r.ask(t.Context(), body))
				ended <- text
			}()
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		var down sync.WaitGroup
		down.Go(func() { r.Shutdown(ctx) })
		r.is.True(strings.Contains(<-ended, `"code":"stopping"`))
		r.is.Equal(time.Since(began), time.Duration(0))
		text := <-ended
		r.is.True(strings.HasPrefix(text, "data: 1\n\ndata: {\"error\":") && strings.Contains(text, `"code":"stopping"`))
		r.is.Equal(time.Since(began), 5*time.Second)
		down.Wait()
		r.is.True(time.Since(began) < 7*time.Second)
	})
}

// Each request goes to the replica that has the fewest.
func TestTheLeastBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		end := make(chan struct{})
		var all []*engine
		for _, id := range []api.JobID{"j00000001", "j00000002", "j00000003"} {
			all = append(all, r.serve(id, ada, "org/m", func(w http.ResponseWriter, _ *http.Request) {
				_ = event(w, "1")
				<-end
				_ = event(w, "[DONE]")
			}))
		}
		var asking sync.WaitGroup
		for range 200 { // at once
			asking.Go(func() {
				_, text := r.result(r.ask(t.Context(), hello))
				r.is.Equal(text, "data: 1\n\ndata: [DONE]\n\n")
			})
		}
		synctest.Wait()
		for _, g := range all {
			r.is.True(len(g.bodies()) == 66 || len(g.bodies()) == 67)
		}
		close(end)
		asking.Wait()
		all[0].kill() // it is found out by the next request, which goes to another
		r.engines[api.RankRef{Job: "j00000001", Attempt: 1}] = nil
		for range 4 {
			status, _ := r.result(r.ask(t.Context(), hello))
			r.is.Equal(status, 200)
		}
		delete(r.engines, api.RankRef{Job: "j00000001", Attempt: 1})
	})
}

// Who may not ask is refused, each for its own reason.
func TestWhoMayAsk(t *testing.T) {
	const near, far = "127.0.0.1:7733", "192.168.1.2:7733"
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.settings.Networks = []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24")}
		r.settings.Hosts, r.settings.Origins = []string{"mac.example"}, []string{"https://ui.example"}
		r.serve("j00000001", ada, "org/m", answers("ada's"))
		r.serve("j00000002", api.Principal{User: "bob", Node: self}, "org/m", answers("bob's"))
		host := func(name string) func(*http.Request) { return func(q *http.Request) { q.Host = name } }
		key := header("Authorization", "Bearer fulmen_bob")
		for _, test := range []struct {
			from, to string
			change   []func(*http.Request)
			want     string
		}{
			{"127.0.0.1:5000", near, nil, "ada's"},
			{"127.0.0.1:5000", near, []func(*http.Request){key}, "bob's"},
			{"127.0.0.1:5000", near, []func(*http.Request){header("Authorization", "Bearer fulmen_other")}, "invalid_api_key"},
			{"127.0.0.1:5000", near, []func(*http.Request){host("localhost:9")}, "ada's"},
			{"127.0.0.1:5000", near, []func(*http.Request){host("[::1]:7733")}, "ada's"},
			{"127.0.0.1:5000", near, []func(*http.Request){host("evil.example")}, "bad_host"},
			{"127.0.0.1:5000", near, []func(*http.Request){host("evil.example:7733")}, "bad_host"},
			{"127.0.0.1:5000", near, []func(*http.Request){host("")}, "ada's"}, // which the client fills in
			{"127.0.0.1:5000", near, []func(*http.Request){header("Origin", "http://evil.example")}, "bad_origin"},
			{"127.0.0.1:5000", near, []func(*http.Request){header("Origin", "http://127.0.0.1:7733")}, "bad_origin"},
			{"127.0.0.1:5000", near, []func(*http.Request){header("Origin", "https://ui.example")}, "ada's"},
			{"192.168.1.7:5000", far, nil, "no_api_key"},
			{"192.168.1.7:5000", far, []func(*http.Request){header("Authorization", "Bearer sk-none")}, "no_api_key"},
			{"192.168.1.7:5000", far, []func(*http.Request){key}, "bob's"},
			{"192.168.1.7:5000", far, []func(*http.Request){key, host("mac.example:7733")}, "bob's"},
			{"192.168.1.7:5000", far, []func(*http.Request){key, host("localhost:7733")}, "bad_host"},
			{"192.168.1.7:5000", far, []func(*http.Request){key, host("192.168.1.9:7733")}, "bad_host"},
			{"192.168.2.7:5000", far, []func(*http.Request){key}, "network_not_allowed"},
		} {
			_, text := r.result(r.askFrom(t.Context(), test.from, test.to, http.MethodPost, "/v1/chat/completions", hello, test.change...))
			if !strings.Contains(text, test.want) {
				t.Errorf("%+v: %s, and not %s", test, text, test.want)
			}
		}
		response, err := r.askFrom(t.Context(), "127.0.0.1:5000", near, http.MethodOptions, "/v1/chat/completions", "", header("Origin", "https://ui.example"), header("Access-Control-Request-Headers", "authorization,content-type"))
		r.is.NoErr(err)
		r.is.Equal([]string{response.Header.Get("Access-Control-Allow-Origin"), response.Header.Get("Access-Control-Allow-Headers"), response.Header.Get("Access-Control-Allow-Methods")},
			[]string{"https://ui.example", "authorization,content-type", "GET, POST"})
		status, _ := r.result(response, err)
		r.is.Equal(status, 204)
		r.owner = errNoCaller // the system does not tell
		_, text := r.result(r.ask(t.Context(), hello))
		r.is.True(strings.Contains(text, "invalid_api_key"))
		r.owner, r.denied = nil, true // rank 0's Mac refuses
		time.Sleep(restWithin)        // until then there is a connection
		synctest.Wait()
		began := time.Now()
		status, text = r.result(r.ask(t.Context(), hello))
		r.is.Equal(status, 403)
		r.is.True(strings.Contains(text, "not_allowed"))
		r.is.True(time.Since(began) < 5*time.Second)
	})
}

var errNoCaller = api.NewError(api.ReasonCallerUnknown, "")

// What cannot be a request is refused with what is wrong, and slow or huge ones take nothing
// from others.
func TestBadRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		g := r.serve("j00000001", ada, "org/m", answers("ok"))
		for body, want := range map[string]string{
			"": "not a JSON object", "[]": "not a JSON object", "{": "not a JSON object", `{"model":"org/m"`: "not a JSON object", `{"model":"org/m"}x`: "not a JSON object",
			"{}": "model is missing", `{"Model":"org/m"}`: "model is missing", `{"model":7}`: "must be the name", `{"model":""}`: "must be the name",
			`{"model":"org/m","model":"org/n"}`: "twice", `{"model":"` + strings.Repeat("é", 1000) + `"}`: "model_not_found",
		} {
			status, text := r.result(r.ask(t.Context(), body))
			if !strings.Contains(text, want) || status != 400 && status != 404 || len(text) > 1000 {
				t.Errorf("%.40q: %d %s", body, status, text)
			}
		}
		for body, want := range map[string]string{
			"": "not a form", strings.ReplaceAll(form("org/m"), "--b c", "--bc"): "not a form", strings.TrimSuffix(form("org/m"), "\r\n--b c--\r\n"): "not a form", strings.ReplaceAll(form("org/m"), "\r\n", "\n"): "not a form",
			strings.Replace(form("org/m"), "name=model", "name=Model", 1): "model is missing",
			form(""): "must be the name", strings.Replace(form("org/m"), `"file"`, `"model"`, 1): "twice", form("org/x"): "model_not_found",
		} {
			status, text := r.result(r.ask(t.Context(), body, header("Content-Type", `multipart/form-data; boundary="b c"`)))
			if !strings.Contains(text, want) || status != 400 && status != 404 {
				t.Errorf("%.90q: %d %s", body, status, text)
			}
		}
		status, _ := r.result(r.ask(t.Context(), hello, header("Content-Type", "text/plain")))
		r.is.Equal(status, 415)
		huge := `{"model":"org/m","x":"` + strings.Repeat("x", maxBody) + `"}`
		status, text := r.result(r.ask(t.Context(), huge, func(q *http.Request) { q.ContentLength = -1 }))
		r.is.Equal(status, 413)
		r.is.True(strings.Contains(text, "32 MiB"))
		r.is.Equal(len(g.bodies()), 0)
		r.is.Equal(r.bodies.Load(), int64(0))

		// A head or a body that does not come, and an answer that is not read.
		for _, test := range []struct {
			send   string
			within time.Duration
			want   string
		}{
			{"POST /v1/x HTTP/1.1\r\n", headWithin, ""},
			{fmt.Sprintf("POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", maxBody+1), 0, "413"},
			{"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{", bodyWithin, "408"},
		} {
			conn, err := r.at.dial("127.0.0.1:5000", "127.0.0.1:7733")
			r.is.NoErr(err)
			began := time.Now()
			_, _ = io.WriteString(conn, test.send)
			answer, _ := io.ReadAll(conn)
			r.is.True(strings.Contains(string(answer), test.want))
			r.is.True(time.Since(began) <= test.within+time.Second)
		}
		time.Sleep(time.Second) // net/http rests before it closes what has sent more than it read
	})
}

// form is a form with a recording and the name of a model.
func form(model string) string {
	return "before\r\n--b c\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\nx: y\r\n\r\nmodel\r\n\r\n--b\r\n--b c \r\nContent-Disposition: form-data; name=model\r\n\r\n" + model + "\r\n--b c--\r\n"
}

// Where the name of the model is in a body is found to the byte.
func FuzzParse(f *testing.F) {
	for _, body := range []string{hello, `{"a":[{"model":"x"}],"model":"y"}`, "{}", `{"model":"é\u0041"}`, form("org/m"), form("")} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		is := is.New(t)
		for _, parse := range []func([]byte) (*request, error){parse, func(body []byte) (*request, error) { return parseForm(body, "b c") }} {
			q, err := parse(body)
			if err != nil {
				continue
			}
			is.Equal(string(q.as("")), string(body))
			again, err := parse(q.as("other"))
			is.NoErr(err)
			is.Equal(again.model, "other")
			is.Equal(string(again.as(q.model))[:q.from], string(body[:q.from]))
		}
	})
}
