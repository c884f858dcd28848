using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Xunit;

namespace Net.Zlink.Tests.Porting;

public sealed class NativeEventsTests
{
    [Theory]
    [InlineData(DisconnectReason.Unknown, 0)]
    [InlineData(DisconnectReason.Local, 0)]
    [InlineData(DisconnectReason.Remote, 4)]
    [InlineData(DisconnectReason.ProtocolError, 3)]
    [InlineData(DisconnectReason.TransportError, 4)]
    [InlineData(DisconnectReason.ContextTerminated, 5)]
    [InlineData(DisconnectReason.IdleTimeout, 4)]
    [InlineData(DisconnectReason.WriteTimeout, 4)]
    [InlineData(DisconnectReason.HandlerFailed, 3)]
    public void Reasons_have_native_numbers(DisconnectReason reason, long native) => Assert.Equal(native, reason.ToNativeReason());

    [Fact]
    public void The_events_of_the_native_core_are_those_with_a_number_below_0x10000() =>
        Assert.Equal(SocketEventTypes.All & (SocketEventTypes)0xFFFF, NativeEvents.All);
}
