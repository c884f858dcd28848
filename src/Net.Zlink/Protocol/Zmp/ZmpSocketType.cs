using System.Globalization;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>The number in a HELLO (docs/protocol.md section 10).</summary>
internal enum ZmpSocketType : byte
{
    Pair = 0,
    Pub = 1,
    Sub = 2,
    Dealer = 5,
    Router = 6,
    XPub = 9,
    XSub = 10,
}

internal static class ZmpSocketTypeExtensions
{
    private const uint Pairs = 1u << (int)ZmpSocketType.Pair;
    private const uint Publishers = (1u << (int)ZmpSocketType.Pub) | (1u << (int)ZmpSocketType.XPub);
    private const uint Subscribers = (1u << (int)ZmpSocketType.Sub) | (1u << (int)ZmpSocketType.XSub);
    private const uint Requesters = (1u << (int)ZmpSocketType.Dealer) | (1u << (int)ZmpSocketType.Router);

    public static string NameOf(byte type) =>
        Enum.IsDefined((ZmpSocketType)type) ? ((ZmpSocketType)type).Name : string.Create(CultureInfo.InvariantCulture, $"type {type}");

    extension(ZmpSocketType type)
    {
        public string Name => type switch
        {
            ZmpSocketType.Pair => "PAIR",
            ZmpSocketType.Pub => "PUB",
            ZmpSocketType.Sub => "SUB",
            ZmpSocketType.Dealer => "DEALER",
            ZmpSocketType.Router => "ROUTER",
            ZmpSocketType.XPub => "XPUB",
            ZmpSocketType.XSub => "XSUB",
            _ => throw new ArgumentOutOfRangeException(nameof(type), type, message: null),
        };

        public string Partners => type switch
        {
            ZmpSocketType.Pair => "PAIR",
            ZmpSocketType.Pub or ZmpSocketType.XPub => "SUB and XSUB",
            ZmpSocketType.Sub or ZmpSocketType.XSub => "PUB and XPUB",
            _ => "DEALER and ROUTER",
        };

        public bool AnnouncesIdentity => type is ZmpSocketType.Dealer or ZmpSocketType.Router;

        public bool IsCompatibleWith(byte peer)
        {
            uint welcome = type switch
            {
                ZmpSocketType.Pair => Pairs,
                ZmpSocketType.Pub or ZmpSocketType.XPub => Subscribers,
                ZmpSocketType.Sub or ZmpSocketType.XSub => Publishers,
                ZmpSocketType.Dealer or ZmpSocketType.Router => Requesters,
                _ => 0,
            };

            // A shift takes its count modulo 32: larger numbers are excluded first.
            return peer <= (byte)ZmpSocketType.XSub && ((welcome >> peer) & 1) != 0;
        }
    }
}
