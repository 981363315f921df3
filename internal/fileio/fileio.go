package fileio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/uuid"

	"github.com/tarndb/tarn/internal/errs"
)

// Files is the one door to the bytes of metadata and data files. Paths are spelled as metadata spells them. Errors have
// a kind and name the path: NotFound, Exists, Invalid (no rights), Unsupported (a scheme), Resource, Transient.
type Files interface {
	// Local returns where the file lies on this machine.
	Local(path string) (string, error)
	// Open opens a file for reading at any offset. The caller closes it.
	Open(ctx context.Context, path string) (File, error)
	// Create makes a file that appears whole or not at all, and durable. It fails with Exists when there is one.
	Create(ctx context.Context, path string, data []byte) error
	// Replace writes a small file over the one that may be there.
	Replace(ctx context.Context, path string, data []byte) error
	// Stream makes a file of what write writes, piece by piece, which is durable when it returns, or leaves none of its own. It returns its size. Until
	// then others may see a part of the file.
	Stream(ctx context.Context, path string, write func(io.Writer) error) (bytes int64, err error)
	// List returns what lies directly in a folder, sorted by name.
	List(ctx context.Context, folder string) ([]fs.DirEntry, error)
	// MakeFolder makes a folder and those above it; it may be there already.
	MakeFolder(ctx context.Context, folder string) error
	// Remove deletes a file.
	Remove(ctx context.Context, path string) error
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Disk is the Files of this machine's file system. The zero value takes every path as it is.
type Disk struct{ relocator }

// NewDisk returns the Files of this machine with rules of where files lie. Of rules for one folder the later wins, and a
// deeper folder's wins over those around it.
func NewDisk(rules []Relocation) (Disk, error) {
	r, err := newRelocator(rules)
	return Disk{r}, err
}

// Local implements Files.
func (d Disk) Local(path string) (string, error) { return d.local(path) }

// with runs do on the local path unless ctx has ended, and gives its error a kind and the path's own spelling.
func (d Disk) with(ctx context.Context, op, path string, do func(local string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	local, err := d.local(path)
	if err != nil {
		return err
	}
	return fileError(op, path, do(local))
}

// Open implements Files.
func (d Disk) Open(ctx context.Context, path string) (File, error) {
	var opened File
	err := d.with(ctx, "open", path, func(local string) error {
		info, err := os.Stat(local) // before opening: that of a pipe waits for a writer
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return errs.New(errs.Corrupt, "", "", "it isn't a regular file but %s", info.Mode().Type())
		}
		f, err := os.Open(local)
		if err != nil {
			return err
		}
		if info, err = f.Stat(); err != nil {
			return errors.Join(err, f.Close())
		}
		opened = localFile{File: f, size: info.Size()}
		return nil
	})
	return opened, err
}

// Create implements Files.
func (d Disk) Create(ctx context.Context, path string, data []byte) error {
	return d.with(ctx, "create", path, func(local string) error {
		return writeWhole(local, data, linkNew)
	})
}

// Replace implements Files.
func (d Disk) Replace(ctx context.Context, path string, data []byte) error {
	return d.with(ctx, "replace", path, func(local string) error {
		return writeWhole(local, data, os.Rename)
	})
}

// Stream implements Files.
func (d Disk) Stream(ctx context.Context, path string, write func(io.Writer) error) (bytes int64, err error) {
	err = d.with(ctx, "write", path, func(local string) (err error) {
		bytes, err = stream(local, write)
		return err
	})
	return bytes, err
}

// List implements Files.
func (d Disk) List(ctx context.Context, folder string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	err := d.with(ctx, "list", folder, func(local string) (err error) {
		entries, err = os.ReadDir(local)
		return err
	})
	return entries, err
}

// makeFolder is the operation for which a file that should be a folder is in the way, rather than the sign of a missing one.
const makeFolder = "make folder"

// MakeFolder implements Files.
func (d Disk) MakeFolder(ctx context.Context, folder string) error {
	return d.with(ctx, makeFolder, folder, func(local string) error {
		return makeFolders(local)
	})
}

// makeFolders makes a folder and those above it that aren't there, and their names durable.
func makeFolders(local string) error {
	if info, err := os.Stat(local); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: local, Err: syscall.ENOTDIR}
		}
		return nil
	}
	above := filepath.Dir(local)
	if above != local {
		if err := makeFolders(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(local, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return syncFolder(above)
}

// Remove implements Files.
func (d Disk) Remove(ctx context.Context, path string) error {
	return d.with(ctx, "remove", path, os.Remove)
}

type localFile struct {
	*os.File
	size int64
}

// Size is the file's size when it was opened.
func (f localFile) Size() int64 { return f.size }

// writeWhole writes data to a temporary file beside local and publishes it there, so that no reader sees a part of it.
func writeWhole(local string, data []byte, publish func(temp, local string) error) error {
	folder := filepath.Dir(local)
	if err := makeFolders(folder); err != nil {
		return err
	}
	temp := filepath.Join(folder, fmt.Sprintf(".%s.%s.tmp", filepath.Base(local), uuid.NewString()))
	if err := writeSynced(temp, data); err != nil {
		return err
	}
	if err := publish(temp, local); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	// A rename has taken the temporary name away; a link has left it.
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncFolder(folder)
}

// writeSynced makes a file, or leaves none of its own.
func writeSynced(local string, data []byte) error {
	return createSynced(local, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

func createSynced(local string, write func(*os.File) error) error {
	f, err := os.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(local))
	}
	return nil
}

// streamBuffer is how many bytes are written to a file at once.
const streamBuffer = 64 << 10

func stream(local string, write func(io.Writer) error) (bytes int64, err error) {
	if err := makeFolders(filepath.Dir(local)); err != nil {
		return 0, err
	}
	err = createSynced(local, func(f *os.File) error {
		buffered := bufio.NewWriterSize(f, streamBuffer)
		if err := write(buffered); err != nil {
			return err
		}
		if err := buffered.Flush(); err != nil {
			return err
		}
		bytes, err = f.Seek(0, io.SeekEnd)
		return err
	})
	if err != nil {
		return 0, err
	}
	return bytes, syncFolder(filepath.Dir(local))
}

// linkNew publishes temp as local unless there is a file already: a hard link is the portable call that is atomic and
// exclusive. Where links aren't known, an exclusive create keeps two writers apart, though a reader may then meet a
// file that is still being written.
func linkNew(temp, local string) error {
	err := os.Link(temp, local)
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EPERM) {
		return err
	}
	data, err := os.ReadFile(temp)
	if err != nil {
		return err
	}
	return writeSynced(local, data)
}

// syncFolder makes a new name durable. Some file systems can't sync a folder, and keep names in order by other means.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Sync makes a file that another library wrote durable: no metadata may mention one that isn't.
func Sync(local string) error {
	f, err := os.Open(local)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(local))
}

// fileError is errs.OfFile, and tells what stands in the way of a folder.
func fileError(op, path string, err error) error {
	if op == makeFolder && errors.Is(err, syscall.ENOTDIR) {
		return errs.New(errs.Invalid, op, path, "a file is in its place or above it")
	}
	return errs.OfFile(op, path, err)
}

// Read returns all of a file.
func Read(ctx context.Context, fio Files, path string) (data []byte, err error) {
	f, err := fio.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var buf bytes.Buffer
	buf.Grow(int(min(f.Size(), 1<<30)) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.NewSectionReader(f, 0, f.Size())); err != nil {
		return nil, fileError("read", path, err)
	}
	return buf.Bytes(), nil
}
