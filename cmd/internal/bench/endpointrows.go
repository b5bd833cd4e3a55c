package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// streams is how many there are at once.
const streams = 200

// endpoint is a fast engine on one Mac, asked directly and through the endpoint of another.
func (j *jobBench) endpoint(within time.Duration) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(j.ctx, clusterDeadline)
	defer cancel()
	result, err := client.Call[api.JobSubmitResult](ctx, j.Nodes[0].Client, "job.submit", api.JobSubmitParams{Request: api.JobRequest{
		Name: "fast", Program: api.Program{Command: []string{j.Python, j.Program("engine.py"), strconv.Itoa(port)}, Directory: j.Work, Stdin: api.StdinNone}, AllowSolo: true, Detached: true,
		Placement: api.Placement{Ranks: 1, GPU: api.GPUNone, Nodes: []api.NodeID{j.Nodes[1].ID}}, Labels: map[string]string{api.LabelEngine: "fast"},
		Publish: []api.Publish{{Port: port}}, Probes: &api.Probes{Readiness: &api.Probe{Port: port, PeriodS: 600}},
	}})
	if err != nil {
		return err
	}
	list, err := client.Call[api.InstanceListResult](ctx, j.Nodes[0].Client, "instance.list", nil)
	if err != nil {
		return err
	}
	ways := []string{fmt.Sprintf("http://127.0.0.1:%d/v1", port), list.Endpoint}
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams}}
	for {
		if _, _, err = ask(ctx, c, ways[1], 1, 1000); err == nil || ctx.Err() != nil { // it waits until the service is ready
			break
		}
		if err := j.wait(100 * time.Millisecond); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	count := streams
	if j.shortest {
		count /= 10
	}
	var first, whole, many, firsts [2][]float64
	err = j.sample("streams through the endpoint", least, within, func(n int) error {
		for i := range ways {
			at := (i + n) % len(ways)
			var began, took float64
			for range 5 { // of a first token, as it is over soon
				b, _, err := ask(j.ctx, c, ways[at], 1, 1000)
				if err != nil {
					return err
				}
				began += b / 5
			}
			_, took, err := ask(j.ctx, c, ways[at], 500, 1000)
			if err != nil {
				return err
			}
			begin, last, err := atOnce(j.ctx, c, ways[at], count)
			if err != nil {
				return err
			}
			first[at], whole[at] = append(first[at], began), append(whole[at], took)
			many[at], firsts[at] = append(many[at], last-begin), append(firsts[at], 1e3*begin)
		}
		return nil
	}, func() []Row {
		method := "interleaved, the order rotates; the engine is on another daemon of this machine, over TLS"
		return []Row{
			newRow("first token through the endpoint", Median(Ratios(first[1], first[0])), "ratio of times", Lower, new(1.3), fmt.Sprintf("the engine itself, %.3g ms", 1e3*Median(first[0]).Value), method),
			newRow("a stream of 1,000 tokens a second", Median(Ratios(whole[0], whole[1])), "ratio of rates", Higher, new(0.97), "the engine itself", method),
			newRow(fmt.Sprintf("%d streams at once, of 20 tokens a second each", streams), Median(Ratios(many[0], many[1])), "ratio of rates", Higher, new(0.97), "the engine itself", method),
			newRow(fmt.Sprintf("%d streams at once, first tokens", streams), Median(firsts[1]), "ms", Lower, nil, fmt.Sprintf("the engine itself, %.3g ms", Median(firsts[0]).Value), method),
		}
	})
	return errors.Join(err, j.over(j.ctx, result.Job))
}

// atOnce is how long so many streams take until their first event and their last, on
// average, in seconds.
func atOnce(ctx context.Context, c *http.Client, at string, count int) (first, whole float64, err error) {
	var all sync.WaitGroup
	firsts, wholes, problems := make([]float64, count), make([]float64, count), make([]error, count)
	for i := range count {
		all.Go(func() { firsts[i], wholes[i], problems[i] = ask(ctx, c, at, 40, 20) })
	}
	all.Wait()
	for i := range count {
		first, whole = first+firsts[i]/float64(count), whole+wholes[i]/float64(count)
	}
	return first, whole, errors.Join(problems...)
}

// ask has one stream answered: how long until its first event, and its last, in seconds.
func ask(ctx context.Context, c *http.Client, at string, tokens, rate int) (first, whole float64, err error) {
	body := fmt.Sprintf(`{"model":"fast","stream":true,"max_tokens":%d,"rate":%d}`, tokens, rate)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	began := time.Now()
	response, err := c.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	if _, err = lines.ReadSlice('\n'); err == nil {
		first = time.Since(began).Seconds()
		rest, e := io.ReadAll(lines)
		whole, err = time.Since(began).Seconds(), e
		if count := bytes.Count(rest, []byte("data: ")); err == nil && (count != tokens || response.StatusCode != http.StatusOK) {
			err = fmt.Errorf("%d tokens came, of %d", count, tokens)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %s: %w", at, response.Status, err)
	}
	return first, whole, err
}
