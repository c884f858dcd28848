using Net.Zlink.Monitoring;

namespace Net.Zlink.Transports.Tls;

/// <summary>Something read from files, read again when one of them has changed: a renewed certificate is picked up by new connections.
/// Thread-safe.</summary>
/// <typeparam name="T">What is made of them.</typeparam>
/// <param name="paths">The files; empty texts are none.</param>
/// <param name="read">Reads them. It may throw.</param>
internal sealed class WatchedFiles<T>(IReadOnlyList<string> paths, Func<T> read)
    where T : class
{
    private readonly Lock _gate = new();
    private volatile T? _current; // Written under the lock.
    private long _version;

    /// <summary>Why what has changed cannot be used, so that what was there before still counts; null: it is up to date, as far as somebody
    /// asked.</summary>
    public string? Staleness { get; private set; }

    /// <summary>What the files hold now. While a changed file cannot be read (it may be half written), or another thread is looking (a file
    /// system may take its time, and that of one thread is enough), what they held before. The looks at two files cost 20 us, the 1 ms of a
    /// handshake is beside them.</summary>
    /// <exception cref="Exception">They could not be read even once: whatever reading threw.</exception>
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
            if (_current is not null && version == _version)
            {
                Staleness = null; // Set back, perhaps.
                return _current;
            }

            try
            {
                _current = read();
                _version = version;
                Staleness = null;
            }
            catch (Exception e) when (_current is not null && PemFiles.IsOfFiles(e))
            {
                Staleness = ExceptionText.MessageOf(e); // Tried again at the next connection.
            }

            return _current;
        }
        finally
        {
            _gate.Exit();
        }
    }

    private long Version()
    {
        var version = new HashCode();
        foreach (string path in paths)
        {
            if (path.Length > 0)
            {
                FileSystemInfo file = FinalTarget(path);
                version.Add(file.FullName, StringComparer.Ordinal);
                version.Add(file.LastWriteTimeUtc.Ticks);
            }
        }

        return version.ToHashCode();
    }

    // Renewed certificates often come by moving a link (Kubernetes, certbot): the link's own time is not that of what it leads to.
    private static FileSystemInfo FinalTarget(string path)
    {
        var file = new FileInfo(path);
        try
        {
            return file.ResolveLinkTarget(returnFinalTarget: true) ?? file;
        }
        catch (Exception e) when (PemFiles.IsOfFiles(e))
        {
            return file; // Missing, or links in a circle: reading it says so.
        }
    }
}
