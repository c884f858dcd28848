using System.Net.Sockets;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Transports;

public sealed class AcceptErrorsTests
{
    [Theory]
    [InlineData(SocketError.ConnectionReset, nameof(AcceptErrorTier.Peer))]
    [InlineData(SocketError.ConnectionAborted, nameof(AcceptErrorTier.Peer))]
    [InlineData(SocketError.NetworkDown, nameof(AcceptErrorTier.Peer))]
    [InlineData(SocketError.HostUnreachable, nameof(AcceptErrorTier.Peer))]
    [InlineData(SocketError.Interrupted, nameof(AcceptErrorTier.Peer))]
    [InlineData(SocketError.AccessDenied, nameof(AcceptErrorTier.Peer))]
    [InlineData(SocketError.TooManyOpenSockets, nameof(AcceptErrorTier.Exhausted))]
    [InlineData(SocketError.NoBufferSpaceAvailable, nameof(AcceptErrorTier.Exhausted))]
    [InlineData(SocketError.SocketError, nameof(AcceptErrorTier.Exhausted))]
    [InlineData(SocketError.InvalidArgument, nameof(AcceptErrorTier.Fatal))]
    [InlineData(SocketError.NotSocket, nameof(AcceptErrorTier.Fatal))]
    [InlineData(SocketError.OperationAborted, nameof(AcceptErrorTier.Fatal))]
    [InlineData((SocketError)123456, nameof(AcceptErrorTier.Peer))]
    public void An_accept_error_is_the_peers_or_a_shortage_or_fatal(SocketError error, string tier) =>
        Assert.Equal(tier, AcceptErrors.Classify(error).ToString());
}
