using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Tcp;

/// <summary>
/// On Linux the runtime's asynchronous lookup blocks a pool thread without the pool's knowledge: with ten names and a silent name server
/// nothing else in the process runs. Concurrent lookups of one name share the answer; nothing is cached.
/// </summary>
internal class NameSource
{
    // A silent name server holds a thread for 10 to 30 s (two tries of 5 s at up to three servers), and further lookups wait as long. 64 is
    // more than the dead names of most processes, some 6 MB, and 64 of the usual 1,024 descriptors.
    public const int MaxThreads = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string Name, AddressFamily Family), Task<IPAddress[]>> _asked = [];
    private readonly SemaphoreSlim _threads = new(MaxThreads, MaxThreads);

    public static NameSource System { get; } = new();

    public virtual IPAddress[] Lookup(string name, AddressFamily family) => Dns.GetHostAddresses(name, family);

    /// <summary>
    /// As <see cref="Lookup"/>, on a thread outside of the pool. A cancelled caller leaves at once; the lookup continues for others.
    /// </summary>
    public virtual async Task<IPAddress[]> LookupAsync(string name, AddressFamily family, CancellationToken cancellation)
    {
        cancellation.ThrowIfCancellationRequested();
        Task<IPAddress[]>? answer;
        lock (_gate)
        {
            if (!_asked.TryGetValue((name, family), out answer))
            {
                answer = AskAsync(name, family);
                _asked.Add((name, family), answer);
                _ = answer.ContinueWith(
                    static failed => _ = failed.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted,
                    TaskScheduler.Default);
            }
        }

        return await answer.WaitAsync(cancellation).ConfigureAwait(false);
    }

    public virtual IReadOnlyList<IPAddress>? InterfaceAddresses(string name)
    {
        var comparison = OperatingSystem.IsWindows() ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal;
        try
        {
            return Array.Find(NetworkInterface.GetAllNetworkInterfaces(), one => string.Equals(one.Name, name, comparison))
                ?.GetIPProperties().UnicastAddresses.Select(static unicast => unicast.Address).ToArray();
        }
        catch (Exception e) when (e is NetworkInformationException or PlatformNotSupportedException)
        {
            return null; // A system that does not list its interfaces has none with a name.
        }
    }

    private async Task<IPAddress[]> AskAsync(string name, AddressFamily family)
    {
        await ThreadHop.ToPool; // The caller has a lock.
        await _threads.WaitAsync(CancellationToken.None).ConfigureAwait(false);
        await ThreadHop.ToOwnThread;
        try
        {
            return Lookup(name, family);
        }
        finally
        {
            lock (_gate)
            {
                _asked.Remove((name, family));
            }

            _threads.Release();
            await ThreadHop.ToPool;
        }
    }
}
