// Peer: Go net/http, one goroutine that appends to a file and syncs once per batch.
// Does per request what sluice does: HMAC, fixed window, JSON validation, fsync before 200.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"
)

type lineItem struct {
	ID       string `json:"line_item_id"`
	Sku      string `json:"sku"`
	Amount   string `json:"amount"`
	Tax      string `json:"tax"`
	Quantity string `json:"quantity"`
}

type order struct {
	ID        string     `json:"platform_order_id"`
	OrderedAt time.Time  `json:"platform_ordered_at"`
	Amount    string     `json:"amount"`
	Tax       string     `json:"tax"`
	Shipping  string     `json:"shipping"`
	Currency  string     `json:"currency_code"`
	Lines     []lineItem `json:"line_items"`
}

var decimal = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,6})?$`)

func (o *order) valid() error {
	if o.ID == "" || o.OrderedAt.IsZero() || len(o.Currency) != 3 || len(o.Lines) == 0 {
		return errors.New("a required field is missing")
	}
	if !decimal.MatchString(o.Amount) || !decimal.MatchString(o.Tax) || !decimal.MatchString(o.Shipping) {
		return errors.New("not a decimal string")
	}
	for _, line := range o.Lines {
		quantity, err := strconv.Atoi(line.Quantity)
		if line.ID == "" || line.Sku == "" || err != nil || quantity < 1 ||
			!decimal.MatchString(line.Amount) || !decimal.MatchString(line.Tax) {
			return errors.New("bad line item")
		}
	}
	return nil
}

type window struct {
	sync.Mutex
	start, count int64
}

func (w *window) take(now, length, limit int64) (remaining, reset int64, ok bool) {
	w.Lock()
	defer w.Unlock()
	if start := now - now%length; start != w.start {
		w.start, w.count = start, 0
	}
	w.count++
	return max(limit-w.count, 0), w.start + length, w.count <= limit
}

func max(a, b int64) int64 {
	if a > b {
		return a
	}
	return b
}

type event struct {
	body []byte
	done chan error
}

// commit writes what has gathered since the last sync, syncs once, and answers all of them.
func commit(file *os.File, queue <-chan event) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	var buffer []byte
	for first := range queue {
		batch := []event{first}
	gather:
		for len(batch) < 1024 {
			select {
			case next := <-queue:
				batch = append(batch, next)
			default:
				break gather
			}
		}
		buffer = buffer[:0]
		for _, e := range batch {
			buffer = binary.LittleEndian.AppendUint32(buffer, uint32(len(e.body)))
			buffer = binary.LittleEndian.AppendUint32(buffer, crc32.Checksum(e.body, castagnoli))
			buffer = append(buffer, e.body...)
		}
		_, err := file.Write(buffer)
		if err == nil {
			err = syscall.Fdatasync(int(file.Fd()))
		}
		for _, e := range batch {
			e.done <- err
		}
	}
}

func main() {
	secret, err := os.ReadFile(os.Getenv("SECRET_FILE"))
	if err != nil {
		log.Fatal(err)
	}
	if n := len(secret); n > 0 && secret[n-1] == '\n' {
		secret = secret[:n-1]
	}
	file, err := os.OpenFile(os.Getenv("STATE")+"/events", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	queue := make(chan event, 4096)
	go commit(file, queue)

	shops := map[string]*window{os.Getenv("SHOP"): {}}
	const limit, length = 200_000_000, 60
	http.HandleFunc("/event/ecomm", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		account, known := shops[r.Header.Get("X-SVC-SHOP-ID")]
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		given, err := hex.DecodeString(r.Header.Get("X-Signature"))
		if !known || err != nil || !hmac.Equal(given, mac.Sum(nil)) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		remaining, reset, ok := account.take(time.Now().Unix(), length, limit)
		header := w.Header()
		header.Set("X-RateLimit-Limit", strconv.Itoa(limit))
		header.Set("X-RateLimit-Remaining", strconv.FormatInt(remaining, 10))
		header.Set("X-RateLimit-Reset", strconv.FormatInt(reset, 10))
		if !ok {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		var o order
		if err := json.Unmarshal(body, &o); err != nil || o.valid() != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		e := event{body, make(chan error, 1)}
		queue <- e
		if <-e.done != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		header.Set("Content-Type", "text/plain")
		io.WriteString(w, "success")
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
