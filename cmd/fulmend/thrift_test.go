package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

// Memory is given back once what needed it is over, and once only.
func TestTrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var trimmed atomic.Int64
		trim := &trimmer{trim: func() { trimmed.Add(1) }, allocated: allocated()}
		work := func() {
			is.True(len(make([]byte, 2*trimBytes)) > 0)
			trim.arm()
		}
		quiet := func() {
			time.Sleep(time.Hour)
			synctest.Wait()
		}
		trim.arm()
		quiet()
		is.Equal(trimmed.Load(), int64(0)) // a collection for nothing

		work()
		time.Sleep(trimAfter / 2)
		work()
		time.Sleep(trimAfter * 3 / 4)
		synctest.Wait()
		is.Equal(trimmed.Load(), int64(0)) // it has not been quiet for long enough
		quiet()
		is.Equal(trimmed.Load(), int64(1))
		quiet()
		is.Equal(trimmed.Load(), int64(1))
		work()
		quiet()
		is.Equal(trimmed.Load(), int64(2))
	})
}

// More garbage may lie in a burst of work, until it has been quiet.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var percent atomic.Int64
		trim := &trimmer{trim: func() {}, percent: func(p int) { percent.Store(int64(p)) }, allocated: allocated(), collected: time.Now()}
		collect := func(after time.Duration) {
			time.Sleep(after)
			synctest.Wait()
			is.True(len(make([]byte, 2*trimBytes)) > 0)
			trim.arm()
		}
		for range 4 {
			collect(burstWithin / 2)
		}
		is.Equal(percent.Load(), int64(0)) // it has not settled since it started
		collect(time.Hour)
		is.Equal(percent.Load(), int64(0)) // one alone is no burst
		collect(2 * burstWithin)
		is.Equal(percent.Load(), int64(0))
		collect(burstWithin / 2)
		is.Equal(percent.Load(), int64(burstPercent))
		collect(time.Hour)
		is.Equal(percent.Load(), int64(gcPercent))
	})
}

// A daemon among many allocates a little all the time: a burst ends all the same,
// and what it needed is given back once.
func TestABurstAmongManyEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var percent, trimmed atomic.Int64
		trim := &trimmer{
			trim:    func() { trimmed.Add(1) },
			percent: func(p int) { percent.Store(int64(p)) }, allocated: allocated(), isSettled: true,
		}
		for range 2 {
			time.Sleep(burstWithin / 2)
			is.True(len(make([]byte, 2*trimBytes)) > 0)
			trim.arm()
		}
		is.Equal(percent.Load(), int64(burstPercent))
		for range 10 {
			time.Sleep(trimAfter)
			synctest.Wait()
			is.True(len(make([]byte, trimBytes)) > 0)
		}
		is.Equal(percent.Load(), int64(gcPercent))
		is.Equal(trimmed.Load(), int64(1))
		time.Sleep(time.Hour) // quiet at last
		synctest.Wait()
		is.Equal(trimmed.Load(), int64(2))
	})
}
