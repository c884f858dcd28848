using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;

namespace Net.Zlink.AspNetCore.Transport;

/// <summary>Kestrel's transport. Endpoints of other kinds, such as an inherited handle, are left to the transport that was there.</summary>
internal sealed class ZlinkTransportFactory(Action<StreamOptions>? configure, ZlinkContextOptions contextOptions)
    : IConnectionListenerFactory, IConnectionListenerFactorySelector
{
    // A client that does not read the end of its answer must not keep its connection forever.
    private static readonly TimeSpan s_linger = TimeSpan.FromSeconds(30);

    public bool CanBind(EndPoint endpoint) => endpoint is IPEndPoint or UnixDomainSocketEndPoint;

    public async ValueTask<IConnectionListener> BindAsync(EndPoint endpoint, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var options = new StreamOptions
        {
            IPv6 = endpoint.AddressFamily == AddressFamily.InterNetworkV6,
            Linger = s_linger,
        };
        configure?.Invoke(options);
        var context = new ZlinkContext(contextOptions);
        try
        {
            return new TransportListener(context, context.CreateStream(options), endpoint);
        }
        catch (Exception e)
        {
            await context.DisposeAsync().ConfigureAwait(false);
            if (e is ZlinkException { InnerException: SocketException { SocketErrorCode: SocketError.AddressAlreadyInUse } })
            {
                throw new AddressInUseException(e.Message, e);
            }

            throw;
        }
    }
}
