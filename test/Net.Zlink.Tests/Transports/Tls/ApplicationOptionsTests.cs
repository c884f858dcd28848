using System.Net.Security;
using System.Reflection;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Transports.Tls;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Options that the application made itself are copied for each handshake: all of them, also those that a later base library
/// brings.</summary>
public sealed class ApplicationOptionsTests : IDisposable
{
    private readonly Authorities _own = new();

    public void Dispose() => _own.Dispose();

    [Fact]
    public void Every_property_of_a_servers_options_is_taken_over()
    {
        var users = new SslServerAuthenticationOptions();
        Fill(users);
        AssertSame(users, ApplicationOptions.Copy(users, users.CertificateChainPolicy, users.ServerCertificateContext));
    }

    [Fact]
    public void Every_property_of_a_clients_options_is_taken_over()
    {
        var users = new SslClientAuthenticationOptions();
        Fill(users);
        AssertSame(users, ApplicationOptions.Copy(users, users.CertificateChainPolicy, "the endpoint's host"));
    }

    private static void AssertSame<T>(T users, T copy)
    {
        foreach (PropertyInfo property in typeof(T).GetProperties())
        {
            object? expected = property.GetValue(users);
            object? copied = property.GetValue(copy);
            Assert.True(expected is Delegate ? copied is not null : Equals(expected, copied),
                $"{property.Name} is {copied} and not {expected}");
        }
    }

    /// <summary>Gives each property another value than it has of itself.</summary>
    private void Fill<T>(T options)
    {
        foreach (PropertyInfo property in typeof(T).GetProperties())
        {
            object? before = property.GetValue(options);
            property.SetValue(options, ValueFor(property, before));
            Assert.False(Equals(before, property.GetValue(options)), $"the test gives {property.Name} no other value");
        }
    }

    private object? ValueFor(PropertyInfo property, object? before) => before switch
    {
        bool flag => !flag,
        X509RevocationMode => X509RevocationMode.Online,
        SslProtocols => SslProtocols.Tls12,
        EncryptionPolicy => (EncryptionPolicy)1, // AllowNoEncryption, which its own library calls obsolete.
        _ when property.PropertyType == typeof(string) => "a name",
        _ when property.PropertyType == typeof(List<SslApplicationProtocol>) => new List<SslApplicationProtocol>(),
        _ when property.PropertyType == typeof(X509ChainPolicy) => new X509ChainPolicy(),
        _ when property.PropertyType == typeof(X509CertificateCollection) => new X509CertificateCollection(),
        _ when property.PropertyType == typeof(X509Certificate) => _own.Server,
        _ when property.PropertyType == typeof(SslStreamCertificateContext) =>
            SslStreamCertificateContext.Create(_own.Server, additionalCertificates: null, offline: true),
        _ when property.PropertyType == typeof(CipherSuitesPolicy) => NewSuites(),
        _ when property.PropertyType == typeof(RemoteCertificateValidationCallback) =>
            (RemoteCertificateValidationCallback)(static (_, _, _, _) => true),
        _ when property.PropertyType == typeof(LocalCertificateSelectionCallback) =>
            (LocalCertificateSelectionCallback)((_, _, _, _, _) => _own.Server),
        _ when property.PropertyType == typeof(ServerCertificateSelectionCallback) =>
            (ServerCertificateSelectionCallback)((_, _) => _own.Server),
        _ => throw new NotSupportedException($"a new property: {property}; ApplicationOptions.Copy has to copy it"),
    };

    private static CipherSuitesPolicy? NewSuites()
    {
        if (OperatingSystem.IsWindows())
        {
            Assert.Skip("NOT TESTED HERE: Windows lets nobody choose cipher suites");
            return null;
        }

        return new CipherSuitesPolicy([TlsCipherSuite.TLS_AES_128_GCM_SHA256]);
    }
}
