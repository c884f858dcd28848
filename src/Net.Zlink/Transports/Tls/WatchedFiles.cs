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
    /// costs 20 us of a handshake's 1 ms.
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
            if (_current is not null && version == _version)
            {
                Staleness = null;
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
                Staleness = ExceptionText.MessageOf(e);
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

    // Certificates are often renewed by moving a link (Kubernetes, certbot): a link's own time is not its target's.
    private static FileSystemInfo FinalTarget(string path)
    {
        var file = new FileInfo(path);
        try
        {
            return file.ResolveLinkTarget(returnFinalTarget: true) ?? file;
        }
        catch (Exception e) when (PemFiles.IsOfFiles(e))
        {
            return file;
        }
    }
}
