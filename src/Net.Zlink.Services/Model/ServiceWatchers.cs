using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>
/// The readers of a directory's WatchAsync. Each holds the names of what changed since it read last, each name once, so it is bounded by
/// the number of services and never misses the last state.
/// </summary>
internal sealed class ServiceWatchers(Func<string, ServiceSnapshot> current, Func<IEnumerable<string>> names)
{
    private readonly Lock _gate = new();
    private Watcher[] _watchers = [];
    private bool _isComplete;

    public void Notify(string service) => Array.ForEach(Volatile.Read(ref _watchers), watcher => watcher.Notify(service));

    /// <summary>The directory has ended: readers see what they have not seen, and end.</summary>
    public void Complete()
    {
        lock (_gate)
        {
            _isComplete = true;
            Array.ForEach(_watchers, static watcher => watcher.Complete());
        }
    }

    public async IAsyncEnumerable<ServiceChange> WatchAsync(string? service, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var watcher = new Watcher(service);
        lock (_gate)
        {
            _watchers = [.. _watchers, watcher];
            foreach (string name in service is null ? names() : [service]) // After it was added: no change falls between the two.
            {
                watcher.Notify(name);
            }

            if (_isComplete)
            {
                watcher.Complete();
            }
        }

        try
        {
            var seen = new Dictionary<string, ServiceSnapshot>(StringComparer.Ordinal);
            await foreach (string name in watcher.ReadAllAsync(cancellationToken).ConfigureAwait(false))
            {
                ServiceSnapshot after = current(name);
                ServiceSnapshot before = seen.GetValueOrDefault(name) ?? new ServiceSnapshot(name, []);
                if (after.Version == before.Version || (before.Version == 0 && !after.IsAvailable))
                {
                    continue;
                }

                if (after.IsAvailable)
                {
                    seen[name] = after;
                }
                else
                {
                    seen.Remove(name); // A name that is gone must not be kept for as long as the reader lives.
                }

                yield return new ServiceChange(before, after);
            }
        }
        finally
        {
            lock (_gate)
            {
                _watchers = [.. _watchers.Where(other => other != watcher)];
            }
        }
    }

    private sealed class Watcher(string? service)
    {
        private readonly Channel<string> _names = Channel.CreateUnbounded<string>();
        private readonly ConcurrentDictionary<string, bool> _unread = new(StringComparer.Ordinal);

        public void Notify(string name)
        {
            if ((service is null || string.Equals(service, name, StringComparison.Ordinal)) && _unread.TryAdd(name, true))
            {
                _names.Writer.TryWrite(name);
            }
        }

        public void Complete() => _names.Writer.TryComplete();

        public async IAsyncEnumerable<string> ReadAllAsync([EnumeratorCancellation] CancellationToken cancellationToken)
        {
            await foreach (string name in _names.Reader.ReadAllAsync(cancellationToken).ConfigureAwait(false))
            {
                _unread.TryRemove(name, out _); // Before the reader looks: a later change is another one.
                yield return name;
            }
        }
    }
}
