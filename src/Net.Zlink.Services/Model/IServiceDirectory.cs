using System.Runtime.CompilerServices;
using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>Knows where services are. All that a gateway needs: a Discovery, a <see cref="StaticDirectory"/>, or one of your own.</summary>
/// <remarks>Implementations are safe for any number of threads.</remarks>
public interface IServiceDirectory
{
    /// <summary>The present state of one service.</summary>
    /// <param name="service">Its name.</param>
    /// <returns>A snapshot; one without instances for a service that nobody serves or that is unknown.</returns>
    ServiceSnapshot GetService(string service);

    /// <summary>Follows one service, or all of them. Begins with what is there; services without instances are left out of that.</summary>
    /// <param name="service">Its name; null for all services.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>Changes in order. A slow reader misses states between, never the last one; it holds one state per service at most. Ends
    /// when the directory ends.</returns>
    IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default);
}

/// <summary>
/// The readers of a directory's WatchAsync. Each holds the names of what changed since it read last, so it is bounded by the number of
/// services and never misses the last state.
/// </summary>
/// <param name="current">The present state of a service; called without a lock.</param>
/// <param name="names">All services that a reader of everything begins with.</param>
internal sealed class ServiceWatchers(Func<string, ServiceSnapshot> current, Func<IEnumerable<string>> names)
{
    private readonly Lock _gate = new();
    private Watcher[] _watchers = [];
    private bool _isComplete;

    /// <summary>A service has another state, which <c>current</c> already gives.</summary>
    public void Notify(string service)
    {
        foreach (Watcher watcher in Volatile.Read(ref _watchers))
        {
            watcher.Notify(service);
        }
    }

    /// <summary>The directory has ended: readers see what they have not seen, and end.</summary>
    public void Complete()
    {
        Watcher[] watchers;
        lock (_gate)
        {
            _isComplete = true;
            watchers = _watchers;
        }

        foreach (Watcher watcher in watchers)
        {
            watcher.Complete();
        }
    }

    public async IAsyncEnumerable<ServiceChange> WatchAsync(string? service, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var watcher = new Watcher(service);
        lock (_gate)
        {
            _watchers = [.. _watchers, watcher];
            if (_isComplete)
            {
                watcher.Complete();
            }
        }

        try
        {
            // Behind the registration, so that no change falls between the two.
            foreach (string name in service is null ? names() : [service])
            {
                watcher.Notify(name);
            }

            var seen = new Dictionary<string, ServiceSnapshot>(StringComparer.Ordinal);
            while (true)
            {
                bool goesOn = await watcher.WaitAsync(cancellationToken).ConfigureAwait(false);
                foreach (string name in watcher.Dequeue())
                {
                    ServiceSnapshot after = current(name);
                    ServiceSnapshot before = seen.TryGetValue(name, out ServiceSnapshot? last) ? last : new ServiceSnapshot(name, []);
                    if (after.Version == before.Version || (last is null && !after.IsAvailable))
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

                if (!goesOn)
                {
                    yield break;
                }
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
        private readonly Channel<bool> _signal =
            Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite });
        private readonly Lock _gate = new();
        private HashSet<string> _changed = new(StringComparer.Ordinal);

        public void Notify(string name)
        {
            if (service is not null && !string.Equals(service, name, StringComparison.Ordinal))
            {
                return;
            }

            lock (_gate)
            {
                _changed.Add(name);
            }

            _signal.Writer.TryWrite(true);
        }

        public void Complete() => _signal.Writer.TryComplete();

        /// <summary>Waits for a change.</summary>
        /// <returns>False: there will be no further one.</returns>
        public async ValueTask<bool> WaitAsync(CancellationToken cancellationToken) =>
            await _signal.Reader.WaitToReadAsync(cancellationToken).ConfigureAwait(false) && _signal.Reader.TryRead(out _);

        public HashSet<string> Dequeue()
        {
            lock (_gate)
            {
                HashSet<string> changed = _changed;
                _changed = new HashSet<string>(StringComparer.Ordinal);
                return changed;
            }
        }
    }
}
