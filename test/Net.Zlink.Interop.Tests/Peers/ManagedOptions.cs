using System.Buffers.Binary;
using System.Text;
using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>Sets our options by their native numbers and in their native units: milliseconds, 0 and 1, texts as bytes.</summary>
internal static class ManagedOptions
{
    public static void Set(ZmpSocketOptions options, int option, ReadOnlySpan<byte> value)
    {
        switch (option)
        {
            case NativeOption.RoutingId:
                options.RoutingId = value.ToArray();
                break;
            case NativeOption.XPubWelcomeMessage:
                SetWelcomeMessage(options, value.ToArray());
                break;
            case NativeOption.TlsCert:
                options.Tls.CertificateFile = Encoding.UTF8.GetString(value);
                break;
            case NativeOption.TlsKey:
                options.Tls.KeyFile = Encoding.UTF8.GetString(value);
                break;
            case NativeOption.TlsCa:
                options.Tls.CaFile = Encoding.UTF8.GetString(value);
                break;
            case NativeOption.TlsHostName:
                options.Tls.HostName = Encoding.UTF8.GetString(value);
                break;
            case NativeOption.TlsPassword:
                options.Tls.KeyPassword = Encoding.UTF8.GetString(value);
                break;
            case NativeOption.MaxMessageSize:
                options.MaxMessageSize = BinaryPrimitives.ReadInt64LittleEndian(value) is >= 0 and var size ? size : null;
                break;
            default:
                Set(options, option, BinaryPrimitives.ReadInt32LittleEndian(value));
                break;
        }
    }

    public static void Set(ZmpSocketOptions options, int option, int value)
    {
        switch (option)
        {
            case NativeOption.Linger:
                options.Linger = TimeSpan.FromMilliseconds(value); // -1 is the infinite one of both
                break;
            case NativeOption.ReconnectInterval:
                options.ReconnectInterval = TimeSpan.FromMilliseconds(value);
                break;
            case NativeOption.ReconnectIntervalMax:
                options.ReconnectIntervalMax = TimeSpan.FromMilliseconds(value);
                break;
            case NativeOption.SendHighWaterMark:
                options.SendHighWaterMark = value == 0 ? null : value;
                break;
            case NativeOption.ReceiveHighWaterMark:
                options.ReceiveHighWaterMark = value == 0 ? null : value;
                break;
            case NativeOption.Immediate:
                options.Immediate = value != 0;
                break;
            case NativeOption.IPv6:
                options.IPv6 = value != 0;
                break;
            case NativeOption.HandshakeInterval:
                options.HandshakeInterval = TimeSpan.FromMilliseconds(value);
                break;
            case NativeOption.HeartbeatInterval:
                options.HeartbeatInterval = TimeSpan.FromMilliseconds(value);
                break;
            case NativeOption.HeartbeatTtl:
                options.HeartbeatTtl = TimeSpan.FromMilliseconds(value);
                break;
            case NativeOption.HeartbeatTimeout:
                options.HeartbeatTimeout = TimeSpan.FromMilliseconds(value);
                break;
            case NativeOption.TlsRequireClientCert:
                options.Tls.RequireClientCertificate = value != 0;
                break;
            case NativeOption.TlsTrustSystem:
                options.Tls.TrustSystem = value != 0;
                break;
            case NativeOption.TlsVerify when options is not XPubOptions:
                options.Tls.VerifyPeer = value != 0;
                break;
            case NativeOption.ZmpMetadata:
                options.SendMetadata = value != 0;
                break;
            default:
                SetOfType(options, option, value != 0);
                break;
        }
    }

    private static void SetWelcomeMessage(ZmpSocketOptions options, byte[] value)
    {
        switch (options)
        {
            case XPubOptions xpub:
                xpub.WelcomeMessage = value;
                break;
            case PubOptions pub:
                pub.WelcomeMessage = value;
                break;
            default:
                throw NoSuchOption(options, NativeOption.XPubWelcomeMessage);
        }
    }

    // Every other option is a switch of some types.
    private static void SetOfType(ZmpSocketOptions options, int option, bool value)
    {
        switch (options, option)
        {
            case (RouterOptions router, NativeOption.RouterMandatory):
                router.Mandatory = value;
                break;
            case (RouterOptions router, NativeOption.RouterHandover):
                router.OnDuplicateRoutingId = value ? DuplicateRoutingId.Replace : DuplicateRoutingId.Refuse;
                break;
            case (RouterOptions router, NativeOption.ProbeRouter):
                router.ProbeRouter = value;
                break;
            case (DealerOptions dealer, NativeOption.ProbeRouter):
                dealer.ProbeRouter = value;
                break;
            case (DealerOptions dealer, NativeOption.Conflate):
                dealer.Conflate = value;
                break;
            case (PubOptions pub, NativeOption.Conflate):
                pub.Conflate = value;
                break;
            case (SubOptions sub, NativeOption.Conflate):
                sub.Conflate = value;
                break;
            case (PubOptions pub, NativeOption.XPubNoDrop):
                pub.NoDrop = value;
                break;
            case (XPubOptions xpub, NativeOption.XPubNoDrop):
                xpub.NoDrop = value;
                break;
            case (PubOptions pub, NativeOption.InvertMatching):
                pub.InvertMatching = value;
                break;
            case (XPubOptions xpub, NativeOption.InvertMatching):
                xpub.InvertMatching = value;
                break;
            case (SubOptions sub, NativeOption.InvertMatching):
                sub.InvertMatching = value;
                break;
            case (XPubOptions xpub, NativeOption.XPubVerbose):
                xpub.Notices = value ? SubscriptionNotices.AllSubscriptions : SubscriptionNotices.FirstAndLast;
                break;
            case (XPubOptions xpub, NativeOption.XPubVerboser):
                xpub.Notices = value ? SubscriptionNotices.All : SubscriptionNotices.FirstAndLast;
                break;
            case (XPubOptions xpub, NativeOption.XPubManual):
                xpub.Manual = value;
                break;
            case (XPubOptions xpub, NativeOption.XPubManualLastValue):
                xpub.ManualLastValue = value;
                break;
            case (XPubOptions xpub, NativeOption.OnlyFirstSubscribe):
                xpub.OnlyFirstSubscribe = value;
                break;
            default:
                throw NoSuchOption(options, option);
        }
    }

    private static NotSupportedException NoSuchOption(ZmpSocketOptions options, int option) =>
        new($"{options.GetType().Name} has no option {option}");
}
