using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>The queries for one service of a <see cref="DnsDirectory"/>. A failed one leaves what the last good one found.</summary>
internal sealed class DnsService(
    string service, string host, int port, DnsDirectoryOptions options, TimeProvider clock, ILogger logger, StaticDirectory found)
{
    // No name that a program should follow has more; a forged answer must not make thousands of connections.
    private const int MaxAddresses = 1_000;

    private bool _hasFailed;

    public async ValueTask RunTurnAsync(CancellationToken cancellation)
    {
        try
        {
            using var limit = new CancellationTokenSource(options.QueryTimeout, clock);
            using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellation);
            IPAddress[] addresses = await (options.Resolve ?? Dns.GetHostAddressesAsync)(host, either.Token)
                .WaitAsync(either.Token).ConfigureAwait(false);
            Accept(addresses);
        }
        catch (Exception e) when (!cancellation.IsCancellationRequested)
        {
            if (!_hasFailed)
            {
                ServicesLog.QueryFailed(logger, e, host, service);
            }

            _hasFailed = true;
        }

        await Task.Delay(options.RefreshInterval, clock, cancellation).ConfigureAwait(false);
    }

    private void Accept(IPAddress[] addresses)
    {
        ImmutableArray<ServiceInstance> instances =
        [
            .. addresses.Where(options.Filter ?? (static _ => true)).Take(MaxAddresses)
                .Select(address => new ServiceInstance(service, EndpointOf(address))),
        ];
        if (instances.IsEmpty)
        {
            throw new SocketException((int)SocketError.NoData); // The same as what most systems report for a name without addresses.
        }

        found.SetService(service, instances);
        if (_hasFailed)
        {
            ServicesLog.QueryWorksAgain(logger, host, service, instances.Length);
        }

        _hasFailed = false;
    }

    private string EndpointOf(IPAddress address) => address.AddressFamily == AddressFamily.InterNetworkV6
        ? $"{options.Transport}://[{address}]:{port}"
        : $"{options.Transport}://{address}:{port}";
}
