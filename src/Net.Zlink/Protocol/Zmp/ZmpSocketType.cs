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

        public bool IsCompatibleWith(byte peer) => (type, (ZmpSocketType)peer) is
            (ZmpSocketType.Pair, ZmpSocketType.Pair)
            or (ZmpSocketType.Pub or ZmpSocketType.XPub, ZmpSocketType.Sub or ZmpSocketType.XSub)
            or (ZmpSocketType.Sub or ZmpSocketType.XSub, ZmpSocketType.Pub or ZmpSocketType.XPub)
            or (ZmpSocketType.Dealer or ZmpSocketType.Router, ZmpSocketType.Dealer or ZmpSocketType.Router);
    }
}
