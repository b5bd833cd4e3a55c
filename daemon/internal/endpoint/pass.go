package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"time"
)

// parts are the buffers of answers on their way.
type parts struct{ sync.Pool }

// Get implements httputil.BufferPool.
func (p *parts) Get() []byte { return *p.Pool.Get().(*[]byte) }

// Put implements httputil.BufferPool.
func (p *parts) Put(part []byte) { p.Pool.Put(&part) }

var buffers = &parts{sync.Pool{New: func() any { part := make([]byte, 32<<10); return &part }}}

// pass has a service answer, and gives the answer on as it comes. The error is why nothing
// of it was written.
func (e *Endpoint) pass(w http.ResponseWriter, r *http.Request, s service, b *backend, end func(), body []byte) (err error) {
	defer end()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) })()
	silent := time.AfterFunc(silentWithin, func() { cancel(errSilent) })
	defer silent.Stop()

	in := r.Clone(ctx)
	in.Body, in.ContentLength, in.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	in.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	proxy := httputil.ReverseProxy{
		Transport: b.transport, FlushInterval: -1, BufferPool: buffers, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = "http", net.JoinHostPort("localhost", strconv.Itoa(s.port))
			p.Out.Host = p.Out.URL.Host
			for _, own := range []string{"Authorization", "Cookie", "Origin", "Referer", "Expect", "Connection", "Upgrade"} {
				p.Out.Header.Del(own) // the engine has no part in it
			}
		},
		ModifyResponse: func(response *http.Response) error {
			for name := range response.Header {
				if strings.HasPrefix(name, "Access-Control-") { // which pages may ask is not the engine's to say
					response.Header.Del(name)
				}
			}
			kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
			isBare := response.ContentLength < 0 && len(response.TransferEncoding) == 0 // its end is that of the connection
			if isBare && kind == "application/json" {
				if err := whole(response); err != nil {
					return err
				}
			}
			response.Body = &reply{
				ReadCloser: response.Body, ctx: ctx, isGone: func() bool { return r.Context().Err() != nil }, silent: silent,
				isEvents: kind == "text/event-stream", endsByWord: isBare && strings.HasSuffix(r.URL.Path, "/completions"),
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, cause error) {
			err = cause
			if _, isAway := errors.AsType[*unreached](cause); !isAway && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
		},
	}
	proxy.ServeHTTP(w, in)
	return err
}

// whole has a value of JSON that ends with its connection come first: who is killed ends that
// in good order too. One that is larger goes on as it comes.
func whole(response *http.Response) error {
	begin, err := io.ReadAll(io.LimitReader(response.Body, maxWhole))
	if err != nil || len(begin) < maxWhole && !json.Valid(begin) {
		return errBroken
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin), response.Body), response.Body}
	return nil
}

// reply is the body of an engine's answer.
type reply struct {
	io.ReadCloser
	ctx    context.Context // of the request
	isGone func() bool     // the client
	silent *time.Timer
	// isEvents says that it is a stream of events, endsByWord that only its last one shows
	// that it is whole: who is killed ends a connection in good order too.
	isEvents, endsByWord bool

	tail []byte // the last bytes of it
	rest []byte // what is still to be said of its end
	over bool
}

// lastWord is OpenAI's last event.
const lastWord = "data: [DONE]"

// Read gives it as it comes. A stream of events that breaks ends by one that says so.
func (p *reply) Read(into []byte) (int, error) {
	if p.over {
		if len(p.rest) == 0 {
			return 0, io.EOF
		}
		n := copy(into, p.rest)
		p.rest = p.rest[n:]
		return n, nil
	}
	n, err := p.ReadCloser.Read(into)
	p.silent.Reset(silentWithin)
	if !p.isEvents {
		return n, err
	}
	p.tail = append(p.tail, into[max(0, n-2*len(lastWord)):n]...)
	p.tail = p.tail[max(0, len(p.tail)-2*len(lastWord)):]
	isWhole := errors.Is(err, io.EOF) && (!p.endsByWord || bytes.Contains(p.tail, []byte(lastWord)))
	if err == nil || isWhole || p.isGone() {
		return n, err
	}
	p.over = true
	why := errBroken
	if p.ctx.Err() != nil {
		why = asProblem(context.Cause(p.ctx))
	}
	gap := "\n\n" // what broke off may be in the midst of an event
	if len(p.tail) == 0 || bytes.HasSuffix(p.tail, []byte(gap)) {
		gap = ""
	}
	p.rest = append(append([]byte(gap+"data: "), why.body()...), "\n\n"...)
	if n == 0 {
		return p.Read(into)
	}
	return n, nil
}
