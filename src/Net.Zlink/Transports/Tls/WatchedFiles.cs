using Microsoft.Win32.SafeHandles;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports.Tls;

/// <summary>A value read from files, and read again after a change, so that new connections use a renewed certificate.</summary>
internal sealed class WatchedFiles<T>(IReadOnlyList<string> paths, Func<T> read)
    where T : class
{
    private readonly Lock _gate = new();
    private volatile T? _current;
    private long _version;

    public string? Staleness { get; private set; }

    /// <summary>
    /// While a changed file cannot be read (it may be half written), or another thread reads it, the earlier value. Checking two files
    /// costs 30 us of a handshake's 1 ms.
    /// </summary>
    public T Get()
    {
        if (!_gate.TryEnter())
        {
            if (_current is { } before)
            {
                return before;
            }

            _gate.Enter();
        }

        try
        {
            long version = Version();
            string? staleness = null;
            try
            {
                _current = _current is not null && version == _version ? _current : read();
                _version = version;
            }
            catch (Exception e) when (_current is not null && PemFiles.IsOfFiles(e))
            {
                staleness = ExceptionText.MessageOf(e);
            }

            Staleness = staleness;
            return _current;
        }
        finally
        {
            _gate.Exit();
        }
    }

    // By content: a renewed file can have the old one's time, length and path, behind links and moved directories. A named pipe or device
    // has no length; reading one would wait, or consume what the reader needs.
    private long Version()
    {
        var version = new HashCode();
        foreach (string path in paths)
        {
            if (path.Length > 0)
            {
                Add(ref version, path);
            }
        }

        return version.ToHashCode();
    }

    private static void Add(ref HashCode version, string path)
    {
        try
        {
            var file = new FileInfo(path);
            FileInfo target = (FileInfo?)file.ResolveLinkTarget(returnFinalTarget: true) ?? file; // A link has its own length and time.
            if (target.Length > 0)
            {
                AddContent(ref version, target.FullName);
            }
            else
            {
                version.Add(target.FullName, StringComparer.Ordinal);
                version.Add(target.LastWriteTimeUtc.Ticks);
            }
        }
        catch (Exception e) when (PemFiles.IsOfFiles(e))
        {
            version.Add(-1); // Missing, or a circle of links: reading reports it.
        }
    }

    /// <summary>In blocks, because each handshake asks, and the system's authorities are 220 KB.</summary>
    private static void AddContent(ref HashCode version, string path)
    {
        const int BlockSize = 8 * 1024;
        using SafeFileHandle file = File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        Span<byte> block = stackalloc byte[BlockSize];
        long position = 0;
        while (RandomAccess.Read(file, block, position) is var length and > 0)
        {
            version.AddBytes(block[..length]);
            position += length;
        }

        version.Add(position); // Two files are not their concatenation.
    }
}
