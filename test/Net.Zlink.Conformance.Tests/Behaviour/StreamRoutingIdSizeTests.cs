using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native routing-id/test_stream_routing_id_size.</summary>
public sealed class StreamRoutingIdSizeTests
{
    [Fact]
    public async Task A_stream_id_is_4_bytes_that_count_from_1()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var view = new NativeStreamView(socket);
        await fixture.ConnectAsync(endpoint);
        Assert.Equal("\0\0\0\u0001", SocketWords.Text((await view.ReceiveAsync(Guard.Token).Guarded()).Id));
    }
}
