using System.Text;

namespace Net.Zlink.Conformance.Tests.Behaviour.Fixtures;

/// <summary>The native core's TLS options by their numbers, as its tests set them. Text options are paths of PEM files, or names.</summary>
internal static class TlsWords
{
    private const int CertificateNumber = 95;
    private const int KeyNumber = 96;
    private const int AuthorityNumber = 97;
    private const int VerifyNumber = 98;
    private const int RequireClientCertificateNumber = 99;
    private const int HostNameNumber = 100;
    private const int TrustSystemNumber = 101;
    private const int PasswordNumber = 102;

    public static T Certificate<T>(this T socket, string certificate, string key, string? password = null)
        where T : ZlinkSocket
    {
        Set(socket, CertificateNumber, certificate);
        Set(socket, KeyNumber, key);
        if (password is not null)
        {
            Set(socket, PasswordNumber, password);
        }

        return socket;
    }

    public static T Authority<T>(this T socket, string file)
        where T : ZlinkSocket
    {
        Set(socket, AuthorityNumber, file);
        return socket;
    }

    public static T HostName<T>(this T socket, string name)
        where T : ZlinkSocket
    {
        Set(socket, HostNameNumber, name);
        return socket;
    }

    public static T Verify<T>(this T socket, bool value)
        where T : ZlinkSocket
    {
        NativeOptions.Set(socket, VerifyNumber, value ? 1 : 0);
        return socket;
    }

    public static T RequireClientCertificate<T>(this T socket)
        where T : ZlinkSocket
    {
        NativeOptions.Set(socket, RequireClientCertificateNumber, 1);
        return socket;
    }

    public static T TrustSystem<T>(this T socket, bool value)
        where T : ZlinkSocket
    {
        NativeOptions.Set(socket, TrustSystemNumber, value ? 1 : 0);
        return socket;
    }

    private static void Set(ZlinkSocket socket, int number, string text) => NativeOptions.Set(socket, number, Encoding.UTF8.GetBytes(text));
}
